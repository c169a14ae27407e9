"""All twelve cells: a thousand random orders of messages each, and what they are with little."""

from __future__ import annotations

from contextlib import contextmanager
from math import inf

import numpy as np
import pytest

from mpiddl.comm.simulated import Network
from mpiddl.ledger import FIELDS, script_of
from mpiddl.problems import problem
from mpiddl.train import Run, simulate
from mpiddl.variant import Variant

NETWORK = Network(alpha=1e-5, beta=1e-9)
WORKERS, ORDERS, CLOCKS, D, GAM = (2, 3, 4, 5), 250, 3, 4, 0.1  # 250 orders for each n
STEPS = 2 * CLOCKS
STALENESS = FIELDS.index("staleness")
SYNCHRONOUS = [
    f"{sync} / {architecture}"
    for sync in ("bsp", "local:2")
    for architecture in ("allreduce", "ps:servers=1", "gossip:ring")
]
ASYNCHRONOUS = [
    "ssp:1 / allreduce:quorum=solo",
    "ssp:2 / allreduce:quorum=majority",
    "ssp:1 / ps:servers=1",
    "ssp:1 / gossip:ring",
    "asp / allreduce:quorum=solo",
    "asp / ps:servers=1",
    "asp / gossip:ring",
    "asp / pairwise:complete",
]
OTHERS = [  # which share a cell with one of these
    "ssp:1 / allreduce",
    "bsp / ps:servers=1,backup=1",
    "local:2 / easgd:servers=1",
    "asp:period=2 / easgd:servers=1",
    "bsp / d2:ring",
    "bsp / tracking:ring",
    "bsp / push_sum:exponential",
]


def job(line, n, seed=1, compute=0.0, **more):
    made = problem("nc", n, seed=seed, d=D, zeta2=0.5)
    variant = Variant.parse(f"{line} / identity / whole / sgd:{GAM}")
    return Run(variant, made, CLOCKS, every=CLOCKS, compute=compute, **more)


def pace(seed):
    """Return seconds of gradients that differ from worker to worker and step to step."""

    times = np.random.default_rng(seed).exponential(0.1, (STEPS, max(WORKERS))).tolist()

    def seconds(worker, step):
        return times[step % STEPS][worker % max(WORKERS)]

    return seconds


@contextmanager
def told(n, seed):
    """Tell which order failed."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"{n} workers, shuffle={seed}")
        raise


def orders():
    """Yield (n, seed of a random order)."""
    for n in WORKERS:
        for seed in range(ORDERS):
            yield n, seed


@pytest.mark.parametrize("line", SYNCHRONOUS)
def test_where_all_wait_for_all_no_order_changes_a_bit(line):
    expected = {n: [result.x for result in simulate(job(line, n))] for n in WORKERS}
    for n, seed in orders():
        with told(n, seed):
            found = simulate(job(line, n, compute=pace(seed)), NETWORK, shuffle=seed)
            for x, result in zip(expected[n], found, strict=True):
                assert np.array_equal(x, result.x)


@pytest.mark.parametrize("line", ASYNCHRONOUS)
def test_in_any_order_all_end_and_nobody_reads_what_is_too_old(line):
    oldest = 0
    for n, seed in orders():
        run = job(line, n, compute=pace(seed))
        with told(n, seed):
            results = simulate(run, NETWORK, shuffle=seed)
            staleness = results[0].services[:, STALENESS]
            assert -1 <= staleness.min()
            assert staleness.max() <= run.variant.sync.staleness
            oldest = max(oldest, int(staleness.max()))
            assert all(np.isfinite(result.x).all() for result in results)
            if seed % 25 == 0:  # and what the moment decided is written down
                script = script_of(results[0].services)
                again = simulate(job(line, n, compute=pace(seed), script=script), NETWORK)
                for one, other in zip(results, again, strict=True):
                    assert np.array_equal(one.x, other.x)
    if "pairwise" not in line:  # where nobody hears of all the others
        assert oldest == run.variant.sync.staleness or oldest >= CLOCKS - 1


@pytest.mark.parametrize("line", [*SYNCHRONOUS, *ASYNCHRONOUS, *OTHERS])
def test_one_worker_is_serial_sgd(line):
    if line in ("bsp / ps:servers=1,backup=1", "ssp:1 / allreduce"):
        pytest.skip("of one worker nobody can be missing; a pipeline delays its own gradients")
    run = job(line, 1)
    x, g = run.problem.start(), np.empty(D)
    steps = run.variant.sync.period * CLOCKS
    for step in range(steps):
        for _ in run.problem.gradient(x, run.problem.batch(0, step), g):
            pass
        x -= GAM * g
    found = simulate(run)[0].x
    if "easgd" in line:  # pulled back to the centre
        assert not np.array_equal(found, x)
    else:
        assert np.allclose(found, x, rtol=0, atol=1e-14)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("architecture", ["allreduce", "ps", "ps:servers=1", "gossip:ring"])
@pytest.mark.parametrize("sync", ["local:1", "ssp:0", "post_local:1,after=2", "growing:1,every=1"])
def test_with_one_step_a_clock_and_no_staleness_all_are_bsp(sync, architecture, n):
    one, other = (simulate(job(f"{which} / {architecture}", n)) for which in ("bsp", sync))
    for result, same in zip(one, other, strict=True):
        if architecture == "gossip:ring" or sync == "ssp:0":
            assert np.array_equal(result.x, same.x)
        else:  # the step is taken before or after the mean
            assert np.allclose(result.x, same.x, rtol=0, atol=1e-14)


@pytest.mark.parametrize("line", ASYNCHRONOUS)
def test_virtual_time_repeats_to_the_bit(line):
    one, other = (simulate(job(line, 5, compute=pace(3)), NETWORK) for _ in range(2))
    assert one[0].curve.rows == other[0].curve.rows
    assert all(np.array_equal(a.x, b.x) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("line", [*SYNCHRONOUS, *ASYNCHRONOUS, *OTHERS])
def test_worlds_of_256_are_possible_and_repeat(line):
    one, other = (simulate(job(line, 256, compute=pace(3)), NETWORK) for _ in range(2))
    assert one[0].curve.rows == other[0].curve.rows
    assert all(np.array_equal(a.x, b.x) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("line", [one for one in ASYNCHRONOUS if one.startswith("asp")])
def test_unbounded_staleness_is_seen(line):
    def slow(worker, step):
        return 1.0 if worker == 0 else 0.01

    run = job(line, 3, compute=slow)
    assert run.variant.sync.staleness == inf
    assert simulate(run, NETWORK)[0].services[:, STALENESS].max() >= ("pairwise" not in line)
