"""Differences where displacements travel: EF21, and words that memories must scale."""

from __future__ import annotations

import numpy as np
import pytest

from mpiddl.problems import problems
from mpiddl.train import Run, simulate
from mpiddl.variant import Variant
from tests.fake_device import FakeArray, FakeDevice
from tests.simulated.test_device_training import OnDevice
from tests.simulated.test_variants import gradients, models, topk

LINES = [
    f"bsp / allreduce / {channel} / layerwise / sgd:0.25"
    for channel in (
        *("fp16", "qsgd:3", "randk:0.3", "randk:0.3,mask=shared", "diff+topk:0.3", "diff+sign"),
        *("diff+randk:0.3,mask=shared", "ef+randk:0.3,mask=shared", "ef+qsgd:1", "ef+randk:0.3"),
        *("diff+qsgd:3", "ef+fp16", "diff+identity"),
    )
]


def distances(channel, clocks, rate=0.1, n=3):
    """Return |x - x*| along a deterministic run on quadratics of different minima."""
    problem = problems["het"](n, seed=1, sigma2=0.0, zeta2=1.0, spectrum=(0.5, 0.6, 0.8, 1.0))
    line = f"bsp / allreduce / {channel} / whole / none>sgd:{rate}"
    curve = simulate(Run(Variant.parse(line), problem, clocks))[0].curve
    return np.sqrt(curve["distance2"])


@pytest.mark.parametrize(
    "channel", ["diff+topk:0.25", "diff+sign", "diff+randk:0.25", "diff+qsgd:1", "diff+fp16"]
)
def test_differences_reach_the_minimum_of_workers_that_differ(channel):
    """EF21: what is compressed dies out, because gradients stop changing."""
    assert distances(channel, 700)[-1] < 1e-10


def test_differences_by_sums_reach_it_too():
    assert distances("diff+randk:0.25,mask=shared", 700)[-1] < 1e-10


def test_without_references_they_stall():
    away = distances("topk:0.25", 700)
    assert away[-1] > 1e-2
    assert abs(away[-1] / away[-20] - 1) < 0.5  # and no longer move


def test_ef21_is_its_recursion():
    problem = problems["het"](3, seed=1, sigma2=0.0, zeta2=1.0)
    x, said = problem.start(), np.zeros((3, problem.layout.size))
    for t in range(30):
        g = gradients(problem, np.tile(x, (3, 1)), t)
        said = said + np.array([topk(v, 0.2) for v in g - said])
        x = x - 0.125 * said.mean(axis=0)
    found = models("bsp / allreduce / diff+topk:0.2 / whole / sgd:0.125", problem, 30)
    assert np.allclose(found, x, rtol=0, atol=1e-13)


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("n", [1, 3])
def test_replicas_agree_to_the_bit_and_runs_repeat(line, n):
    problem = problems["nc"](n, seed=2, layers=2, zeta2=0.5)
    x = models(line, problem, 12)
    assert (x == x[0]).all()
    assert np.array_equal(x, models(line, problem, 12))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("line", LINES)
def test_gradients_of_zero_change_nothing(line):
    problem = problems["nc"](3, seed=0, sigma2=0.0, radius=0.0, layers=2)
    assert not models(line, problem, 5).any()


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_run_stays_on_the_device_and_gives_the_same_bits(line, dtype):
    host = problems["nc"](3, seed=1, layers=2, dtype=dtype, zeta2=0.5)
    here, there = (
        simulate(Run(Variant.parse(line), each, 8)) for each in (host, OnDevice(host, FakeDevice()))
    )
    for one, other in zip(here, there, strict=True):
        assert isinstance(other.x, FakeArray)
        assert np.array_equal(one.x, other.x.get())
