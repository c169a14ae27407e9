"""How long a gradient takes, for the clock of the simulator."""

from __future__ import annotations

import time
from statistics import median

import numpy as np

from mpiddl.problems import Problem

__all__ = ["gradient_seconds"]

REPETITIONS = 101  # gradients timed


def gradient_seconds(problem: Problem) -> float:
    """Return the median time of a stochastic gradient, its batch included, on this core alone.

    To one digit, so that two runs on one machine mostly agree on it.
    """
    x = problem.start()
    out, times = np.empty_like(x), []
    for step in range(REPETITIONS):
        began = time.perf_counter()
        for _ in problem.gradient(x, problem.batch(0, step), out):
            pass
        times.append(time.perf_counter() - began)
    return float(f"{median(times):.0e}")
