"""Momentum of agreements pays: rounds of local steps contract as their 2x2 recursion says.

Formula     H steps alone take x - x* to M (x - x*), M = (I - gam A)^H, and the outer momentum moves
            by what they bring: m <- beta m + (I - M)(x - x*), x <- x - out m. For every curvature a
            of A these are two numbers, so a clock contracts by the spectral radius of
                ((1 - out q, -out beta), (q, beta)),   q = 1 - (1 - gam a)^H
Problem     het, skewed and without noise: workers pull apart, and their shifts cancel in the mean
Measured    |x_{t+1} - x*| / |x_t - x*| in the end, which is that radius; and the clocks until
            |x - x*| has fallen to `TARGET` of what it was, with momentum and without, both at the
            best pair (gam, out) of a grid: fewer with it
Broken if   there is no momentum, or it is not believed
Source      Wang, Tantia, Ballas & Rabbat, "SlowMo", ICLR 2020.  arXiv:1910.00643
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from bench.claims import Budget, claims
from bench.jobs import Found, Job
from bench.judge import Outcome as Decision
from bench.judge import Subject, Verdict, equal
from bench.series import Series, line
from mpiddl.arrays import Array
from mpiddl.problems.quadratic import het
from mpiddl.train import Run
from mpiddl.variant import Variant

__all__ = ["OuterMomentum"]

WORKERS, PERIOD, CLOCKS = 4, 4, 320
SPECTRUM = np.geomspace(0.003, 1.0, 10)
GAMS, OUTS = np.linspace(0.02, 1.98, 99), np.linspace(0.1, 4.0, 40)  # steps to choose from
TARGET, END = 1e-6, 1e-4  # of the first distance; where the slope is taken, up to the target
TOLERANCE = 1e-3


@dataclass(frozen=True)
class OuterMomentum:
    """The claim about momentum `beta`, whose radius is computed for `claimed`."""

    beta: float = 0.5
    claimed: float = 0.5

    subject: ClassVar[Subject] = Subject(
        "outer momentum contracts by its spectral radius, and saves clocks", "heavy ball of rounds"
    )

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return two runs, with momentum and without; there is no noise, nothing to repeat."""
        jobs = []
        for beta in dict.fromkeys((self.beta, 0.0)):
            gam, out = best(beta)
            seats = f"sgd:{gam!r}>momentum:{out!r},beta={beta}"
            variant = Variant.parse(f"local:{PERIOD} / allreduce / identity / whole / {seats}")
            problem = het(WORKERS, budget.seed, spectrum=SPECTRUM, sigma2=0.0)
            jobs.append(Job(("outer_momentum", beta), Run(variant, problem, CLOCKS, every=1)))
        return jobs

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge the last contractions before the target, and who is there first."""
        away = {
            beta: np.sqrt(found["outer_momentum", beta].curve["distance2"])
            for beta in (self.beta, 0.0)
        }
        with_it, without = (reached(away[beta], TARGET) for beta in (self.beta, 0.0))
        predicted = float(radius(self.claimed, *best(self.beta)))
        end = slice(reached(away[self.beta], END), with_it + 1)
        seen = away[self.beta][end]
        reason = (
            f"contraction of a clock; {with_it} clocks to {TARGET:g} of the first distance, "
            f"{without} without; H = {PERIOD}, n = {WORKERS}, simulated"
        )
        rates = [float(rate) for rate in seen[1:] / seen[:-1]]
        verdict = equal(self.subject, predicted, rates, reason, TOLERANCE)
        if not with_it < without:
            verdict = replace(verdict, outcome=Decision.FAILS)
        clocks = np.arange(with_it + 1)
        law = seen[-1] * predicted ** (clocks - with_it)
        lines = (
            line(f"beta = {self.beta:g}", clocks, away[self.beta][: with_it + 1]),
            line("without", np.arange(without + 1), away[0.0][: without + 1]),
            line("radius", clocks, law, "theory"),
            line("target", np.arange(without + 1), TARGET * away[0.0][0], "theory"),
        )
        return verdict.drawn(Series("Outer momentum", "clock", "|x - x*|", lines, log_y=True))


def radius(beta: float, gam: float | Array, out: float | Array) -> Array:
    """Return the spectral radius of a clock; `gam` and `out` broadcast."""
    q = 1 - (1 - np.asarray(gam)[..., None] * SPECTRUM) ** PERIOD
    trace = 1 + beta - np.asarray(out)[..., None] * q  # of matrices with determinant beta
    root = np.sqrt(trace**2 - 4 * beta + 0j)
    found: Array = np.maximum(abs(trace + root), abs(trace - root)).max(axis=-1) / 2
    return found


def best(beta: float) -> tuple[float, float]:
    """Return the inner and the outer step with the smallest radius."""
    radii = radius(beta, GAMS[:, None], OUTS)
    gam, out = np.unravel_index(np.argmin(radii), radii.shape)
    return float(GAMS[gam]), float(OUTS[out])


def reached(away: Array, share: float) -> int:
    """Return the first clock at which `away` has fallen to that share; the last if none."""
    there = np.flatnonzero(away <= share * away[0])
    return int(there[0]) if len(there) else len(away) - 1


claims.register("outer_momentum")(OuterMomentum())
