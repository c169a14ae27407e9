"""Quasi-global momentum against its recursion: one m in two seats, led by agreements."""

from __future__ import annotations

import numpy as np
import pytest

from mpiddl.errors import ConfigurationError
from mpiddl.optim import Seats
from mpiddl.optim.quasi_global import QuasiGlobal
from mpiddl.optim.sgd import SGD
from mpiddl.problems import problems
from mpiddl.variant import Variant
from tests.simulated.test_variants import SIZES, gradients, models

GAM, BETA = 0.1, 0.8
RULE = f"quasi_global:{GAM},beta={BETA}"


def quasi_global(problem, matrices, clocks, steps=lambda clock: 1, rate=lambda t: GAM):
    """Return the models X (n, d), line by line as in the paper."""
    n = len(matrices[0])
    x = np.tile(problem.start(), (n, 1))
    m, t = np.zeros_like(x), 0
    for clock in range(clocks):
        y, gone = x, 0.0
        for _ in range(steps(clock)):
            y = y - rate(t) * (gradients(problem, y, t) + BETA * m)
            gone, t = gone + rate(t), t + 1
        mixed = matrices[clock % len(matrices)] @ y
        m = BETA * m + (1 - BETA) * (x - mixed) / gone
        x = mixed
    return x


CASES = [
    "bsp / gossip:ring / identity / whole",
    "bsp / gossip:exponential / identity / layerwise",
    "local:4 / gossip:ring / identity / whole",
    "local:2 / gossip:one_peer_exponential / identity / layerwise",
    "post_local:3,after=4 / gossip:star / identity / whole",
    "growing:4,every=3 / gossip:ring / identity / whole",
]


@pytest.mark.parametrize("line", CASES)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("factor", ["", "@sqrt"])
def test_it_is_its_recursion(line, n, factor):
    problem = problems["nc"](n, seed=5, layers=2, zeta2=0.5)
    variant = Variant.parse(f"{line} / quasi_global:{GAM}{factor},beta={BETA}")
    matrices, steps = variant.architecture.matrices(n), variant.sync.steps
    expected = quasi_global(problem, matrices, 12, steps, variant.seats.outer.at)
    assert np.allclose(models(variant, problem, 12), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", ["het", "breast_cancer", "digits"])
def test_it_is_so_on_other_problems(name):
    made = {"het": {"zeta2": 2.0, "sigma2": 1.0}}.get(name, {"sharding": "disjoint", "sort": True})
    problem, variant = problems[name](4, seed=2, **made), Variant.parse(f"{CASES[0]} / {RULE}")
    expected = quasi_global(problem, variant.architecture.matrices(4), 15)
    assert np.allclose(models(variant, problem, 15), expected, rtol=1e-13, atol=1e-13)


def test_the_comparison_notices_momenta_of_ones_own():
    problem, line = problems["nc"](5, seed=5, zeta2=0.5), CASES[0]
    expected = quasi_global(problem, Variant.parse(f"{line} / {RULE}").architecture.matrices(5), 12)
    own = models(f"{line} / momentum:{GAM},beta={BETA}", problem, 12)
    assert not np.allclose(own, expected, rtol=0, atol=1e-3)


def test_without_momentum_it_is_sgd_to_the_bit():
    problem = problems["nc"](5, seed=1, zeta2=0.5)
    one, other = (models(f"{CASES[2]} / {rule}:0.1{more}", problem, 9) for rule, more in NONE)
    assert np.array_equal(one, other)


NONE = (("quasi_global", ",beta=0"), ("sgd", ""))


def test_a_worker_alone_makes_quasi_hyperbolic_steps():
    """x - gam (g + beta m), m <- beta m + (1 - beta) (g + beta m): a mean of what it went along."""
    problem = problems["nc"](1, seed=3)
    found = models(f"bsp / gossip:ring / identity / whole / {RULE}", problem, 30)[0]
    x, m = problem.start(), 0.0
    for t in range(30):
        way = gradients(problem, x[None], t)[0] + BETA * m
        x, m = x - GAM * way, BETA * m + (1 - BETA) * way
    assert np.allclose(found, x, rtol=0, atol=1e-13)
    live = QuasiGlobal(GAM, BETA).open(problem.start(), (slice(0, problem.layout.size),))
    x = problem.start()
    for t in range(30):
        live.apply(x, gradients(problem, x[None], t)[0], t)
    assert np.allclose(found, x, rtol=0, atol=1e-13)


def test_under_an_all_reduce_it_is_a_momentum_of_the_mean():
    problem = problems["nc"](4, seed=3, zeta2=0.5)
    found = models(f"local:2 / allreduce / identity / whole / {RULE}", problem, 10)
    expected = quasi_global(problem, [np.full((4, 4), 0.25)], 10, lambda clock: 2)
    assert np.allclose(found, expected, rtol=0, atol=1e-13)


def test_momenta_do_not_pull_workers_apart_and_still_carry_all_of_them():
    """Workers that differ, no noise: as far apart as plain SGD's, as fast as momentum."""
    problem = problems["het"](8, seed=1, sigma2=0.0, zeta2=1.0, spectrum=(0.02, 0.5, 1.0))
    apart, left = {}, {}
    for rule in ("sgd:0.05", "momentum:0.05", "quasi_global:0.05"):
        x = models(f"bsp / gossip:ring / identity / whole / {rule}", problem, 600)
        apart[rule] = np.linalg.norm(x - x.mean(axis=0))
        left[rule] = np.abs(x.mean(axis=0)).max()
    plain, own, led = apart.values()
    assert led == pytest.approx(plain, rel=0.05)
    assert own > 5 * plain
    assert left["quasi_global:0.05"] < 0.1 * left["sgd:0.05"]


def test_a_step_of_size_zero_leaves_m_as_it_is():
    problem = problems["nc"](3, seed=3)
    line = f"bsp / gossip:ring / identity / whole / quasi_global:{GAM}@cosine:5,beta={BETA}"
    assert np.isfinite(models(line, problem, 9)).all()


def test_the_text_is_one_rule_and_comes_back():
    for line in CASES:
        variant = Variant.parse(f"{line} / {RULE}")
        assert str(variant) == f"{line} / {RULE}"
        assert variant.seats == Seats(QuasiGlobal(GAM, BETA), QuasiGlobal(GAM, BETA))
        assert Variant.parse(f"{line} / {RULE}>{RULE}") == variant


def test_both_seats_share_one_m_and_each_lane_has_its_own():
    seats, like = Seats(QuasiGlobal(GAM), QuasiGlobal(GAM)), np.ones(3)
    inner, outer = seats.open(like, (slice(0, 3),))
    assert inner.shared is outer.shared
    assert inner.shared is not seats.open(like, (slice(0, 3),))[0].shared


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            f"bsp / gossip:ring / identity / whole / {RULE}>sgd:1",
            "takes both seats.*write it alone",
        ),
        (f"bsp / allreduce / identity / whole / none>{RULE}", "takes both seats.*write it alone"),
        (f"bsp / ps / identity / whole / {RULE}", "agrees on its servers: use allreduce or gossip"),
        ("bsp / gossip:ring / identity / whole / quasi_global:0.1,beta=1", "beta .* below 1"),
    ],
)
def test_what_it_cannot_do_is_refused_with_a_remedy(line, says):
    with pytest.raises(ConfigurationError, match=says):
        models(line, problems["iso"](4, seed=0), 2)


def test_one_half_of_it_is_refused_in_code_too():
    with pytest.raises(ConfigurationError, match="both seats"):
        Seats(QuasiGlobal(0.1), QuasiGlobal(0.2))
    Seats(SGD(0.1), SGD(1))
