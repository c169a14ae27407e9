"""How late means may be for free: the s that raises the error by a quarter, over n and sigma2.

Theorem     asgd-nonconvex with the noise of a mean, sigma2 / n, and every delay s: the s up to
            which the bound is at most a quarter above that of s = 0, and applies, costs no more
            than that when it is measured; theory.delayed has the exact error, hence the exact s, to
            a step of the grid
Problem     f = |x|^2 / 2 with additive noise, from its minimum; all-reduces that are applied s
            clocks late (Pipe-SGD: ssp:s / allreduce). The step is the one that bsp-nonconvex
            recommends for `HORIZON` clocks from f(x0) - f* = 1/2: the more workers, and the less
            noise, the longer it is, and the less delay it bears
Measured    the mean of |x_t|^2 over the second half of the run, x_t the model that t means have
            moved, over that of s = 0 with the same noise
Broken if   means come later than they say
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import inf, isfinite, sqrt
from typing import Any, ClassVar

import numpy as np

from bench.claims import Budget, claims
from bench.critical import SHARE, Point, judged, lines
from bench.jobs import Found, Job
from bench.judge import Subject, Verdict
from bench.series import Series
from mpiddl.problems import Problem
from mpiddl.problems.quadratic import iso
from mpiddl.train import Run
from mpiddl.variant import Variant

__all__ = ["CriticalStaleness", "step"]

LATE = (0, 1, 2, 4, 8, 16)
MEANS, FIRST, D = 48, 24, 1000  # means that move the model, and those before errors count
HORIZON, DELTA = 2048, 0.5
WORKERS, NOISE = (2, 6, 16), (0.1, 1.0, 10.0)  # the map
FEW, LITTLE = (2, 8), (1.0,)  # in a hurry
SEEDS = 4  # at most
LINE = "ssp:{} / allreduce:naive / identity / whole / sgd:{}"


def step(n: int, sigma2: float) -> float:
    """Return the step that bsp-nonconvex recommends; L = 1."""
    return min(1.0, sqrt(2 * DELTA * n / (HORIZON * sigma2)))


@cache
def problem(n: int, seed: int, sigma2: float) -> Problem:
    """Return what is learnt, from its minimum."""
    found: Problem = iso(n, seed, sigma2=sigma2, d=D, radius=0.0)
    return found


@dataclass(frozen=True)
class CriticalStaleness:
    """The claim about means that are s clocks late, each of which counts as `counted`."""

    counted: float = 1.0

    subject: ClassVar[Subject] = Subject(
        "the s that a bound calls cheap is cheap, and the exact one is met", "asgd-nonconvex"
    )

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return one run per point of the map, s and seed; simulated."""
        return [
            Job(
                ("critical_staleness", n, sigma2, s, seed),
                Run(
                    Variant.parse(LINE.format(s, step(n, sigma2))),
                    problem(n, seed, sigma2),
                    MEANS + s,
                    every=1,
                ),
            )
            for n, sigma2 in the_map(budget)
            for s in LATE
            for seed in budget.all_seeds[:SEEDS]
        ]

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge every point of the map."""
        points = {at: self.point(found, budget, *at) for at in the_map(budget)}
        workers, noise = sizes(budget)
        costs = [one.costs()[one.predicted(one.bound)].value for one in points.values()]
        reason = (
            f"points of {len(points)} on the map, n = {workers[0]} .. {workers[-1]}, sigma2 = "
            f"{', '.join(map('{:g}'.format, noise))}; what bounds let cost {1 + SHARE:g} costs "
            f"{max(costs):.2f} at most; {len(budget.all_seeds[:SEEDS])} seeds, simulated"
        )
        pictures = [
            Series(
                f"Delay that costs {SHARE:.0%}, sigma2 = {sigma2:g}",
                "workers n",
                f"s in clocks ({LATE[-1]}: or more)",
                tuple(lines([points[n, sigma2] for n in workers])),
                log_x=True,
            )
            for sigma2 in noise
        ]
        return judged(self.subject, list(points.values()), reason).drawn(*pictures)

    def point(self, found: Found, budget: Budget, n: int, sigma2: float) -> Point:
        """Return what was measured and predicted at a point of the map."""
        errors = [
            [error(found["critical_staleness", n, sigma2, s, seed], s) for s in LATE]
            for seed in budget.all_seeds[:SEEDS]
        ]
        believed = [round(self.counted * s) for s in LATE]
        gam, noise = step(n, sigma2), sigma2 / n
        bounds = [limit(gam, noise, s) for s in believed]
        return Point(n, LATE, errors, bounds, [exact(gam, noise, s) for s in believed])


def sizes(budget: Budget) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return the numbers of workers, and the sigma2."""
    return (FEW, LITTLE) if budget.quick else (WORKERS, NOISE)


def the_map(budget: Budget) -> list[tuple[int, float]]:
    """Return n and sigma2 of all points."""
    workers, noise = sizes(budget)
    return [(n, sigma2) for sigma2 in noise for n in workers]


def error(run: Any, s: int) -> float:
    """Return the mean of |x_t|^2 over t = FIRST .. MEANS - 1; x_t is there after t + s clocks."""
    found = float(run.curve["distance2"][FIRST + s : MEANS + s].mean())
    return found if isfinite(found) and not run.diverged else inf


def limit(gam: float, noise: float, s: int) -> float:
    """Return the bound on the mean of |x_t|^2, inf where it does not apply."""
    from theory.catalogue import THEOREMS

    theorem = THEOREMS["asgd-nonconvex"]
    ages = dict.fromkeys(("taumax", "tauC", "tauavg"), s)
    known = {"T": MEANS, "gam": gam, "L": 1.0, "sigma2": noise, "Delta": 0.0, **ages}
    return inf if theorem.holds(**known) else theorem.at(**known)


@cache
def exact(gam: float, noise: float, s: int) -> float:
    """Return the mean of E|x_t|^2 over the same t."""
    from theory.delayed import second_moments
    from theory.testbed import Quadratic

    read = np.maximum(np.arange(MEANS) - s, 0)
    oracle = Quadratic(1, 1, 1.0, noise, 0.0, 0.0, np.ones(1))
    squares = second_moments(read, np.full(MEANS, gam), oracle).squares.sum(axis=1)
    return float(squares[FIRST:MEANS].mean())


claims.register("critical_staleness")(CriticalStaleness())
