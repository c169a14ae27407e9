"""Rates as rates: how the measured left side falls with T and with n at the recommended step.

For every theorem with a rate, the recursion runs at the tuned step for a grid of T (n fixed) and a
grid of n (T fixed); log measured is fitted over log T and log n. Measured is exact (moments) where
the recursion is linear, else a mean over seeds with a bootstrap interval. Expected are the
exponents of the theorem: those of its tuned step, or, where the step is fixed, of its bound at
large T.

A slope says something only in the noise regime. So at every point the step must be free: it is
not clipped at its largest value (then it would not fall with T), and gam L T is large, so that
the start is forgotten. A slope outside the regime is a failure, not a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from theory.catalogue import THEOREMS
from theory.descents import ENTRIES
from theory.moments import moments
from theory.recursions import simulate
from theory.stages import left_side
from theory.statistics import Estimate, exact_slope, slope
from theory.testbed import Floats
from theory.theorem import Theorem
from theory.trials import Trial

__all__ = ["TOLERANCE", "Slope", "slopes"]

TOLERANCE = 0.1  # of an exponent: T is finite, so lower orders still show
FORGOTTEN = 10.0  # least gam L T


@dataclass(frozen=True)
class Slope:
    """A measured exponent beside the theorem's.

    Parameters
    ----------
    axis : str
        "T" or "n".
    points : tuple of int
        Where it was measured.
    expected : float
        The theorem's exponent.
    measured : Estimate
        Fit and interval.
    regime : bool
        Whether every point is in the noise regime.
    """

    axis: str
    points: tuple[int, ...]
    expected: float
    measured: Estimate
    regime: bool

    @property
    def ok(self) -> bool:
        """Whether some exponent in the interval is within TOLERANCE of the theorem's."""
        near = self.measured.low - TOLERANCE <= self.expected <= self.measured.high + TOLERANCE
        return self.regime and bool(near)


_ISO = Trial("bsp-nonconvex", "iso", n=4, T=8000, options={"d": 1, "radius": 0.3})
RATES: dict[str, tuple[Trial, Sequence[int], Sequence[int]]] = {
    "bsp-nonconvex": (_ISO, (1000, 2000, 4000, 8000), (1, 2, 4, 8)),
}


def _tuned(trial: Trial) -> Trial:
    """Return the trial at the theorem's recommended step."""
    tuned = THEOREMS[trial.theorem].tuned
    if tuned is None:
        return trial
    values = trial.values()
    numbers = {letter: values[letter.name] for letter in tuned.step.free_symbols}
    return replace(trial, gam=float(tuned.step.subs(numbers)))
