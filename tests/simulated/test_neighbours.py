"""What must hold of everything that speaks to neighbours: any order, any end, one worker, a device.

Also graphs that change from clock to clock, in words that both ends must count alike.
"""

from __future__ import annotations

import numpy as np
import pytest

from bench.predict import per_clock
from mpiddl.comm.simulated import Network
from mpiddl.errors import Diverged
from mpiddl.problems import problems
from mpiddl.train import Run, simulate
from mpiddl.variant import Variant
from tests.fake_device import FakeArray, FakeDevice
from tests.simulated.test_delivery_orders import NETWORK, job, orders, told
from tests.simulated.test_device_training import OnDevice
from tests.simulated.test_variants import Poisoned, bsp, models

LINES = [
    "bsp / d2:ring / identity / layerwise",
    "bsp / d2:star,gamma=0.2 / diff+topk:0.4 / whole",
    "bsp / tracking:one_peer_exponential / identity / layerwise",
    "bsp / tracking:ring,gamma=0.3 / fp16 / whole",
    "bsp / push_sum:directed_random:0.3 / identity / layerwise",
    "local:2 / push_sum:one_peer_exponential,gamma=0.5 / diff+topk:0.4 / whole",
    "bsp / gossip:one_peer_exponential / identity / whole",
    "bsp / gossip:one_peer_exponential,gamma=0.3 / diff+randk:0.5 / layerwise",
]
every_line = pytest.mark.parametrize("line", LINES)


@every_line
def test_no_order_of_delivery_changes_a_bit(line):
    expected = {n: simulate(job(line, n), NETWORK) for n in range(2, 6)}
    for n, seed in orders():
        with told(n, seed):
            found = simulate(job(line, n), NETWORK, shuffle=seed)
            for one, other in zip(expected[n], found, strict=True):
                assert np.array_equal(one.x, other.x)


@every_line
def test_one_worker_is_serial_sgd(line):
    problem, variant = problems["nc"](1, seed=1, layers=2), Variant.parse(f"{line} / sgd:0.125")
    if str(variant.channel) in ("identity", "fp16"):
        clocks = 20 // variant.sync.period
        assert np.allclose(models(variant, problem, clocks)[0], bsp(problem, 1, 20)[0], atol=1e-2)
        if str(variant.channel) == "identity":
            assert np.allclose(models(variant, problem, clocks), bsp(problem, 1, 20), atol=1e-14)


@every_line
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_number_that_is_not_finite_ends_the_run_on_all_ranks(line, value):
    problem = Poisoned(problems["iso"](4, seed=0, layers=2), value)
    variant = Variant.parse(f"{line} / sgd:0.125")
    with pytest.raises(Diverged, match="rank 1 .* clock") as error:
        simulate(Run(variant, problem, 12, every=1))
    clock = 5 // variant.sync.period
    assert error.value.result.diverged == (1, clock)
    loss = error.value.result.curve["loss"]
    assert np.isfinite(loss[: clock + 1]).all()
    assert not np.isfinite(loss[clock + 1 :]).any()


@every_line
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_run_stays_on_the_device_and_gives_the_same_bits(line, dtype):
    host = problems["nc"](4, seed=1, layers=2, dtype=dtype, zeta2=0.5)
    here, there = (
        simulate(Run(Variant.parse(f"{line} / sgd:0.125"), each, 8))
        for each in (host, OnDevice(host, FakeDevice()))
    )
    for one, other in zip(here, there, strict=True):
        assert isinstance(other.x, FakeArray)
        assert np.array_equal(one.x, other.x.get())


@every_line
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_messages_and_bytes_are_those_of_the_formula(line, n):
    problem = problems["breast_cancer"](n, seed=0)
    run = Run(Variant.parse(f"{line} / sgd:0.1"), problem, 6, every=1)
    clock, curve = per_clock(run), simulate(run)[0].curve
    assert (curve["bytes"] == clock.bytes * curve["clock"]).all()
    assert (curve["messages"] == clock.messages * curve["clock"]).all()


def test_by_hand_for_five_ranks():
    """31 doubles: two vectors for tracking, one entry more for push-sum; one peer: one message."""
    problem = problems["breast_cancer"](5, seed=0)
    told = {
        "d2:ring": (10, 31 * 8),
        "tracking:one_peer_exponential": (5, 62 * 8),
        "push_sum:one_peer_exponential": (5, 32 * 8),
    }
    for text, (messages, nbytes) in told.items():
        line = f"bsp / {text} / identity / whole / sgd:0.1"
        clock = per_clock(Run(Variant.parse(line), problem, 2))
        assert (clock.messages, clock.bytes) == (messages, messages * nbytes)
    topk = "bsp / push_sum:ring / topk:0.1 / whole / sgd:0.1"
    assert per_clock(Run(Variant.parse(topk), problem, 2)).bytes == 10 * (4 * 12 + 8)


def test_a_turn_whose_clocks_differ_has_no_price_of_a_clock():
    line = "bsp / gossip:one_peer_exponential,weights=metropolis / identity / whole / sgd:0.1"
    assert per_clock(Run(Variant.parse(line), problems["breast_cancer"](8, 0), 2)) is None


@pytest.mark.parametrize("channel", ["randk:0.3", "diff+randk:0.3", "diff+topk:0.3", "qsgd:2"])
@pytest.mark.parametrize("arch", ["gossip", "push_sum"])
def test_hearers_that_change_hear_what_was_said(channel, arch):
    """Both ends draw the same masks and keep the same references, else the mean would drift."""
    problem = problems["iso"](8, seed=3, zeta2=0.5)
    line = f"bsp / {arch}:one_peer_exponential,gamma=0.2 / {channel} / whole / sgd:0.125"
    serial = models("bsp / allreduce / identity / whole / sgd:0.125", problem, 30)
    x = models(line, problem, 30)
    assert np.allclose(x.mean(axis=0), serial[0], rtol=0, atol=1e-12)
    assert np.abs(x - x.mean(axis=0)).max() > 1e-3


@every_line
def test_where_workers_agree_and_nothing_pulls_nothing_moves(line):
    problem = problems["nc"](4, seed=0, sigma2=0.0, radius=0.0, layers=2)
    assert not models(f"{line} / sgd:0.125", problem, 5).any()


def test_a_turn_of_one_peer_is_an_average_for_a_power_of_two():
    problem = problems["het"](8, seed=0, sigma2=0.0, zeta2=1.0)
    line = "bsp / {}:one_peer_exponential / identity / whole / sgd:1e-9"
    for arch in ("gossip", "push_sum"):
        x = models(line.format(arch), problem, 3, Network(1e-5, 1e-9))
        last = 1e-9 * np.abs(problem.shifts if hasattr(problem, "shifts") else 4).max()
        assert np.abs(x - x.mean(axis=0)).max() < 3 * last
