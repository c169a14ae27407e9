"""Every cell against its own recursion in plain NumPy, at any n, in the simulated world.

The recursions below are the papers' lines on the matrix X (n, d) of all models; they share no code
with the rooms but the problems' gradients.
"""

from __future__ import annotations

from math import ceil

import numpy as np
import pytest

from mpiddl.architecture.topology import contraction, topologies
from mpiddl.comm.simulated import Network
from mpiddl.errors import Diverged, ProtocolError
from mpiddl.optim import Seats
from mpiddl.optim.rates import decreasing
from mpiddl.optim.sgd import SGD
from mpiddl.problems import READY, problems
from mpiddl.train import Run, simulate
from mpiddl.variant import Variant

SIZES = (1, 2, 3, 5, 8)
NETWORK = Network(alpha=1e-5, beta=1e-9, gamma=1e-10)
GAM = 0.125


def gradients(problem, models, step):
    """Return the stochastic gradients G (n, d) of all workers at their models."""
    rows = np.empty_like(models)
    for worker, x in enumerate(models):
        for _ in problem.gradient(x, problem.batch(worker, step), rows[worker]):
            pass
    return rows


def topk(v, ratio):
    kept = np.argsort(-np.abs(v), kind="stable")[: max(1, ceil(ratio * v.size))]
    return np.where(np.isin(np.arange(v.size), kept), v, 0)


def sign(v):
    return np.abs(v).mean() * np.where(np.signbit(v), -1, 1)


def bsp(problem, n, steps):
    x = np.tile(problem.start(), (n, 1))
    for t in range(steps):
        x = x - GAM * gradients(problem, x, t).mean(axis=0)
    return x


def local(problem, n, steps, period):
    x = np.tile(problem.start(), (n, 1))
    for t in range(steps):
        x = x - GAM * gradients(problem, x, t)
        if (t + 1) % period == 0:
            x = np.tile(x.mean(axis=0), (n, 1))
    return x


def gossip(problem, n, steps, w, period=1):
    x = np.tile(problem.start(), (n, 1))
    for t in range(steps):
        x = x - GAM * gradients(problem, x, t)
        if (t + 1) % period == 0:
            x = w @ x
    return x


def compressed(problem, n, steps, code, memory, period=1):
    x, e = np.tile(problem.start(), (n, 1)), 0.0
    for t in range(0, steps, period):
        y = x
        for h in range(period):
            y = y - GAM * gradients(problem, y, t + h)
        p = x - y + e
        said = np.array([code(row) for row in p])
        e = (p - said) * memory
        x = x - said.mean(axis=0)
    return x


RECURSIONS = {
    "bsp / allreduce / identity / whole / sgd:0.125": bsp,
    "bsp / allreduce:ring / identity / layerwise / sgd:0.125": bsp,
    "bsp / allreduce:naive / identity / whole / sgd:0.125>sgd:1": bsp,
    "bsp / allreduce:tree / identity / whole / sgd:0.125": bsp,
    "bsp / allreduce:recursive_doubling / ef+identity / whole / sgd:0.125": bsp,
    "bsp / gossip:complete / identity / whole / sgd:0.125": bsp,
    "local:4 / allreduce / identity / whole / sgd:0.125": lambda p, n, t: local(p, n, t, 4),
    "bsp / ps / identity / whole / sgd:0.125": bsp,
    "bsp / ps:servers=2 / identity / layerwise / sgd:0.125": bsp,
    "ssp:0 / ps:servers=3 / identity / whole / sgd:0.125>sgd:1": bsp,
    "local:4 / ps / identity / layerwise / sgd:0.125": lambda p, n, t: local(p, n, t, 4),
    "bsp / ps:servers=1 / ef+topk:0.2 / whole / sgd:0.125": lambda p, n, t: compressed(
        p, n, t, lambda v: topk(v, 0.2), memory=1
    ),
    "local:4 / ps:servers=1 / sign / whole / sgd:0.125": lambda p, n, t: compressed(
        p, n, t, sign, memory=0, period=4
    ),
    "bsp / gossip:ring / identity / layerwise / sgd:0.125": lambda p, n, t: gossip(
        p, n, t, topologies.parse("ring").matrix(n)
    ),
    "local:4 / gossip:ring / identity / whole / sgd:0.125": lambda p, n, t: gossip(
        p, n, t, topologies.parse("ring").matrix(n), 4
    ),
    "bsp / allreduce / ef+topk:0.2 / whole / sgd:0.125": lambda p, n, t: compressed(
        p, n, t, lambda v: topk(v, 0.2), memory=1
    ),
    "bsp / allreduce / topk:0.2 / whole / sgd:0.125": lambda p, n, t: compressed(
        p, n, t, lambda v: topk(v, 0.2), memory=0
    ),
    "bsp / allreduce / ef+sign / whole / sgd:0.125": lambda p, n, t: compressed(
        p, n, t, sign, memory=1
    ),
    "local:4 / allreduce / ef+sign / whole / sgd:0.125": lambda p, n, t: compressed(
        p, n, t, sign, memory=1, period=4
    ),
}


def models(line_or_variant, problem, clocks, network=None):
    variant = line_or_variant
    if isinstance(variant, str):
        variant = Variant.parse(variant)
    workers = simulate(Run(variant, problem, clocks), network)[: problem.workers]
    return np.array([worker.x for worker in workers])


@pytest.mark.parametrize("line", RECURSIONS)
@pytest.mark.parametrize("n", SIZES)
def test_a_variant_is_its_recursion(line, n):
    problem = problems["nc"](n, seed=5, layers=3, zeta2=0.5)  # equal Hessians would hide H
    period = Variant.parse(line).sync.period
    expected = RECURSIONS[line](problem, n, 40)
    assert np.allclose(models(line, problem, 40 // period, NETWORK), expected, rtol=0, atol=1e-13)


def test_the_comparison_notices_another_period():
    problem = problems["nc"](3, seed=5, zeta2=0.5)
    line = "local:4 / allreduce / identity / whole / sgd:0.125"
    assert not np.allclose(models(line, problem, 10), local(problem, 3, 40, 2), rtol=0, atol=1e-6)


@pytest.mark.parametrize("line", RECURSIONS)
def test_one_worker_is_serial_sgd_where_nothing_is_lost(line):
    if "identity" in line:
        problem = problems["nc"](1, seed=1)
        clocks = 40 // Variant.parse(line).sync.period
        assert np.allclose(models(line, problem, clocks)[0], bsp(problem, 1, 40)[0], atol=1e-14)


@pytest.mark.parametrize("n", SIZES)
def test_one_local_step_is_bsp_to_the_bit(n):
    problem = problems["breast_cancer"](n, seed=2)
    one = models("local:1 / allreduce / identity / whole / sgd:0.125>sgd:1", problem, 15)
    all_steps = models("bsp / allreduce / identity / whole / sgd:0.125>sgd:1", problem, 15)
    assert np.array_equal(one, all_steps)


@pytest.mark.parametrize("collective", ["naive", "halving_doubling", "recursive_doubling", "tree"])
def test_a_plan_changes_no_bit_where_the_order_of_sums_is_fixed(collective):
    problem = problems["spec"](5, seed=3, layers=4)
    whole, layers = (
        models(f"bsp / allreduce:{collective} / identity / {plan} / sgd:0.125", problem, 20)
        for plan in ("whole", "layerwise")
    )
    assert np.array_equal(whole, layers)


@pytest.mark.parametrize("line", [line for line in RECURSIONS if "gossip" not in line])
@pytest.mark.parametrize("n", SIZES)
def test_all_replicas_hold_the_same_bits_after_an_agreement(line, n):
    x = models(line, problems["breast_cancer"](n, seed=4), 7)
    assert (x == x[0]).all()


@pytest.mark.parametrize("line", RECURSIONS)
def test_a_run_repeats_to_the_bit_and_depends_on_its_seed(line):
    problem = problems["iso"](4, seed=6)
    assert np.array_equal(models(line, problem, 10), models(line, problem, 10, NETWORK))
    assert not np.array_equal(models(line, problem, 10), models(line, problems["iso"](4, 7), 10))


@pytest.mark.parametrize("n", [2, 3, 8])
def test_uneven_shards_average_to_the_full_gradient(n):
    problem = problems["breast_cancer"](n, seed=0, sharding="disjoint", batch=None)
    alone = problems["breast_cancer"](1, seed=0, batch=None)
    line = "bsp / allreduce / identity / whole / sgd:0.125"
    assert np.allclose(models(line, problem, 20)[0], models(line, alone, 20)[0], atol=1e-12)


def test_decreasing_steps_make_a_running_mean():
    problem = problems["iso"](2, seed=0, radius=3.0)
    base = Variant.parse("bsp / allreduce / identity / whole / sgd:1")
    rule = SGD(decreasing(mu=1.0, a=1.0))
    variant = Variant(base.sync, base.architecture, base.channel, base.schedule, Seats(None, rule))
    noise = [problem.batch(w, t) for t in range(30) for w in range(2)]
    assert np.allclose(models(variant, problem, 30)[0], -np.mean(noise, axis=0), atol=1e-14)


class Poisoned:
    """A problem whose worker 1 meets a NaN or an infinity in one entry at step 5."""

    def __init__(self, problem, value):
        self._problem, self._value = problem, value

    def __getattr__(self, name):
        return getattr(self._problem, name)

    def batch(self, worker, step):
        batch = self._problem.batch(worker, step)
        if (worker, step) == (1, 5):
            batch[3] = self._value
        return batch


@pytest.mark.parametrize("line", RECURSIONS)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_number_that_is_not_finite_ends_the_run_on_all_ranks(line, value):
    problem = Poisoned(problems["iso"](3, seed=0, layers=2), value)
    variant = Variant.parse(line)
    with pytest.raises(Diverged, match="rank 1 .* clock") as error:
        simulate(Run(variant, problem, 12, every=1))
    clock = 5 // variant.sync.period
    assert error.value.result.diverged == (1, clock)
    loss = error.value.result.curve["loss"]
    assert np.isfinite(loss[: clock + 1]).all()  # nothing measured before is lost
    assert not np.isfinite(loss[clock + 1 :]).any()


@pytest.mark.parametrize("line", ["asp / ps", "bsp / ps", "bsp / allreduce"])
def test_who_is_lost_says_nothing_else_in_any_lane(line):
    problem = Poisoned(problems["iso"](3, seed=0, layers=2), np.nan)
    with pytest.raises(Diverged) as error:
        simulate(Run(Variant.parse(f"{line} / identity / layerwise / sgd:0.25"), problem, 12))
    assert not np.isfinite(error.value.result.x).any()  # the NaN was in one lane of two


@pytest.mark.parametrize("line", ["bsp / allreduce", "local:2 / allreduce", "bsp / ps", "asp / ps"])
def test_a_model_that_overflows_in_the_last_clock_is_not_passed_on_as_good(line):
    variant = Variant.parse(f"{line} / identity / whole / sgd:1e308")
    with pytest.raises(Diverged, match="clock"):
        simulate(Run(variant, problems["iso"](2, seed=0, L=1e3), clocks=1))


@pytest.mark.parametrize("schedule", ["whole", "layerwise"])
@pytest.mark.parametrize("line", ["asp / ps", "bsp / gossip:ring", "bsp / allreduce"])
def test_a_problem_that_forgets_a_layer_is_told_so(line, schedule):
    problem = problems["iso"](2, seed=0, layers=2)
    gradient = problem.gradient
    problem.gradient = lambda *args: (each for each in gradient(*args) if each != (READY, 1))
    variant = Variant.parse(f"{line} / identity / {schedule} / sgd:0.25")
    with pytest.raises(ProtocolError, match="READY for all of layers"):
        simulate(Run(variant, problem, 3))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("line", RECURSIONS)
@pytest.mark.parametrize("n", [1, 3])
def test_gradients_of_zero_change_nothing(line, n):
    problem = problems["nc"](n, seed=0, sigma2=0.0, radius=0.0, layers=2)
    assert not models(line, problem, 5).any()


def test_a_step_that_is_too_long_is_divergence_not_an_error_of_ours():
    line, problem = "bsp / allreduce / identity / whole / sgd:1000", problems["iso"](2, seed=0)
    with pytest.raises(Diverged, match="smaller step size"):
        models(line, problem, 300)


@pytest.mark.parametrize(("graph", "n"), [("ring", 8), ("ring", 3), ("ring", 2), ("complete", 5)])
def test_gossip_alone_contracts_by_its_matrix(graph, n):
    w = topologies.parse(graph).matrix(n)
    problem = problems["het"](n, seed=0, sigma2=0.0)
    x = models(f"bsp / gossip:{graph} / identity / whole / sgd:0.125", problem, 9)
    assert contraction(w) < 1
    assert np.allclose(x, gossip(problem, n, 9, w), atol=1e-14)
