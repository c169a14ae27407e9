"""Descent is no faster than theory says: where it is slowest, it is exactly that slow.

Theorem     gd-convex: f(x_T) - f* <= L R2 / (4 T gam L + 2), attained
Problem     the Huber function that is the worst for T steps: it is straight until the last one.
            Workers differ (zeta2 = 1), but their mean does not notice
Measured    f(x_T) - f* itself, without noise: an equation, to rounding
Broken if   one step is too long, too short, too many or missing
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import numpy as np

from bench.claims import Budget, claims
from bench.jobs import Found, Job
from bench.judge import Subject, Verdict, equal
from bench.series import Series, line
from mpiddl.problems.huber import Huber
from mpiddl.train import Run
from mpiddl.variant import Variant

__all__ = ["WorstCase"]

WORKERS, CLOCKS, GAM, D = 4, 40, 0.5, 10
TOLERANCE = 1e-9  # relative


@dataclass(frozen=True)
class WorstCase:
    """The claim about runs with step size `gam`, taken for `GAM`."""

    gam: float = GAM

    subject: ClassVar[Subject] = Subject(
        "at its worst, descent is as slow as its bound", "gd-convex"
    )

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return one run; the seed does not matter."""
        width = 1 / sqrt(D) / (2 * CLOCKS * GAM + 1)
        problem = Huber(WORKERS, budget.seed, d=D, c=width, sigma2=0.0, zeta2=1.0)
        variant = Variant.parse(f"bsp / allreduce / identity / whole / sgd:{self.gam}")
        return [budget.job(("worst_case", self.gam), Run(variant, problem, CLOCKS, every=1))]

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge the gap at the end."""
        from theory.catalogue import THEOREMS

        theorem, clocks = THEOREMS[self.subject.theorem], np.arange(CLOCKS + 1)
        limits = [theorem.at(T=T, gam=GAM, L=1, R2=1) for T in clocks[1:]]
        gaps = found["worst_case", self.gam].curve["loss"]
        reason = f"f(x) - f* after {CLOCKS} clocks on the Huber function, n = {WORKERS}"
        tolerance = TOLERANCE * limits[-1]
        verdict = equal(self.subject, limits[-1], [float(gaps[-1])], reason, tolerance)
        lines = line("measured", clocks, gaps), line("of T steps", clocks[1:], limits, "bound")
        return verdict.drawn(Series("The worst case", "clock", "f(x) - f*", lines, log_y=True))


claims.register("worst_case")(WorstCase())
