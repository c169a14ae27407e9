"""Seconds on a network that is not there: some clocks in the simulator, and the same again.

A run repeats itself: after a few clocks a clock takes as long as the one `period` clocks before.
An all-reduce makes everybody wait for everybody, so its period is short; in gossip a delay may
travel once around all ranks. That is checked on the simulated clocks, the rest is extrapolated.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from mpiddl.architecture.allreduce import AllReduce
from mpiddl.arrays import Array
from mpiddl.comm.simulated import Network
from mpiddl.problems import Problem
from mpiddl.train import Run, simulate

__all__ = ["Timetable", "gradient_seconds", "timetable"]

FIRST = 4  # clocks that need not repeat
SHORT = 2  # longest period of an all-reduce
REPETITIONS = 101  # gradients timed


@dataclass(frozen=True)
class Timetable:
    """Virtual seconds at the end of each simulated clock (from clock 0), and how they go on.

    `period` is the number of clocks after which the last ones repeat; 0 if they do not.
    """

    known: tuple[float, ...]
    period: int

    def at(self, clocks: Array) -> Array:
        """Return the seconds at `clocks` (m,); NaN where nothing is known."""
        known, clocks = np.asarray(self.known), np.asarray(clocks, dtype=np.int64)
        last = len(known) - 1
        if not self.period:
            return np.where(clocks > last, np.nan, known[np.minimum(clocks, last)])
        cycles = -(-np.maximum(clocks - last, 0) // self.period)
        cycle = known[last] - known[last - self.period]
        return known[clocks - cycles * self.period] + cycles * cycle


def timetable(run: Run, network: Network, compute: float) -> Timetable:
    """Simulate the first clocks of `run`, where a gradient takes `compute` seconds."""
    joined = isinstance(run.variant.architecture, AllReduce)
    longest = SHORT if joined else max(SHORT, run.problem.workers)
    clocks = min(run.clocks, FIRST + 2 * longest)
    trial = replace(run, clocks=clocks, every=1, compute=compute)
    curve = simulate(trial, network)[0].curve
    assert curve is not None
    seconds = curve["seconds"]
    taken = np.diff(seconds)[FIRST:]
    for period in range(1, len(taken) // 2 + 1):
        if np.allclose(taken[period:], taken[:-period], rtol=1e-6, atol=0):
            return Timetable(tuple(map(float, seconds)), period)
    return Timetable(tuple(map(float, seconds)), 0)


def gradient_seconds(problem: Problem) -> float:
    """Return the median time of a stochastic gradient, its batch included, on this core alone."""
    x = problem.start()
    out, times = np.empty_like(x), []
    for step in range(REPETITIONS):
        began = time.perf_counter()
        for _ in problem.gradient(x, problem.batch(0, step), out):
            pass
        times.append(time.perf_counter() - began)
    return float(np.median(times))
