from __future__ import annotations

import numpy as np
import pytest

from bench.networks import network
from bench.variants import NAMED
from bench.virtual import Timetable, gradient_seconds, timetable
from mpiddl.problems import problem
from mpiddl.train import Run, simulate
from mpiddl.variant import Variant

NETWORK, COMPUTE = network("10gbe"), 3e-5


@pytest.mark.parametrize("line", NAMED.values(), ids=NAMED)
@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_extrapolated_seconds_are_those_of_a_long_simulation(line, n):
    run = Run(
        Variant.parse(f"{line} / sgd:0.1"), problem("breast_cancer", n, 0), 40, 5, compute=COMPUTE
    )
    curve = simulate(run, NETWORK)[0].curve
    table = timetable(run, NETWORK, COMPUTE)
    assert np.allclose(table.at(curve["clock"]), curve["seconds"], rtol=1e-9, atol=0)


class FakeResult:
    def __init__(self, seconds: list[float]) -> None:
        self.curve = {"seconds": np.array(seconds)}


def test_clocks_that_do_not_repeat_are_not_extrapolated(monkeypatch):
    variant = Variant.parse("bsp / allreduce / identity / whole / sgd:0.1")
    run = Run(variant, problem("breast_cancer", 4, 0), 100)
    slower = [float(clock**2) for clock in range(9)]
    monkeypatch.setattr("bench.virtual.simulate", lambda *_: [FakeResult(slower)])
    table = timetable(run, NETWORK, COMPUTE)
    assert np.isnan(table.at(np.array([9, 50]))).all()
    assert table.at(np.array([2])) == 4.0


def test_a_timetable_knows_what_it_simulated_and_repeats_the_last():
    clocks = np.array([0, 1, 2, 3, 4, 5, 8])
    assert list(Timetable((0.0, 5.0, 6.0), 1).at(clocks)) == [0, 5, 6, 7, 8, 9, 12]
    assert list(Timetable((0.0, 5.0, 6.0, 8.0), 2).at(clocks)) == [0, 5, 6, 8, 9, 11, 15]


def test_a_gradient_takes_time():
    assert 0 < gradient_seconds(problem("breast_cancer", 2, 0)) < 1
