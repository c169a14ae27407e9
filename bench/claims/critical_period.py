"""How many local steps are free: the H that raises the error by a quarter, over n and sigma2.

Theorem     local-sgd-convex-iid, local-sgd-nonconvex: the H up to which the bound is at most a
            quarter above that of H = 1 costs no more than that when it is measured. Both sides of a
            bound are loose, so this is no theorem, but what one would take it for; theory.bent has
            the exact error, hence the exact H, to a step of the grid
Problem     workers alike: softplus, as on quadratics of one Hessian H does not show at all; unlike:
            f_i = (1 + c_i / 3) |x|^2 / 2 + <s_i, x>, zeta2 = 1, bent so that local steps miss the
            minimum. There zeta2 is the most that workers disagree, in the mean, along the run
Measured    f(xbar) - f*, and |xbar - x*|^2, in the mean of 32 and 64 steps after all left the
            minimum together; over that of H = 1 with the same noise
Broken if   H local steps count as fewer, or workers average more often than they say
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from bench.bent import AtMinimum, Bent
from bench.claims import Budget, claims
from bench.critical import SHARE, Point, judged, lines
from bench.jobs import Found, Job
from bench.judge import Subject, Verdict
from bench.series import Series
from mpiddl.problems import Problem
from mpiddl.problems.quadratic import iso
from mpiddl.problems.softplus import Softplus
from mpiddl.train import Run
from mpiddl.variant import Variant

__all__ = ["CriticalPeriod"]

GAM, BEND = 0.1, 1 / 3
PERIODS = (1, 2, 4, 8, 16, 32)
STEPS, ROW = 64, 32  # in all, and between two rows: the same steps for every H
WORKERS, NOISE = (2, 6, 16), (0.5, 5.0, 50.0)  # the map
FEW, LITTLE = (2, 8), (5.0,)  # in a hurry
SEEDS = 4  # at most
KINDS = ("alike", "unlike")
D = {"alike": 10, "unlike": 2000}  # few parameters: much noise in each; many: a sharp mean
LINE = "local:{} / allreduce:naive / identity / whole / sgd:{}"


@cache
def problem(kind: str, n: int, seed: int, sigma2: float) -> Problem:
    """Return what is learnt, from its minimum."""
    if kind == "alike":
        return AtMinimum(Softplus(n, seed, sigma2=sigma2, d=D[kind]))
    return Bent(iso(n, seed, sigma2=sigma2, d=D[kind], zeta2=1.0, radius=0.0), BEND)


@dataclass(frozen=True)
class CriticalPeriod:
    """The claim about `PERIODS`, each step of which counts as `counted`; runs have `periods`."""

    counted: float = 1.0
    periods: tuple[int, ...] = PERIODS

    subject: ClassVar[Subject] = Subject(
        "the H that bounds call cheap is cheap, and the exact one is met", "local-sgd, theory.bent"
    )

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return one run per kind of workers, point of the map, H and seed; simulated."""
        return [
            Job(
                ("critical_period", kind, n, sigma2, H, seed),
                Run(
                    Variant.parse(LINE.format(H, GAM)),
                    problem(kind, n, seed, sigma2),
                    STEPS // H,
                    every=ROW // H,
                ),
            )
            for kind in KINDS
            for n, sigma2 in the_map(budget)
            for H in dict.fromkeys(self.periods)
            for seed in budget.all_seeds[:SEEDS]
        ]

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge every point of both maps."""
        points = {
            (kind, sigma2, n): self.point(found, budget, kind, n, sigma2)
            for kind in KINDS
            for n, sigma2 in the_map(budget)
        }
        costs = [one.costs()[one.predicted(one.bound)].value for one in points.values()]
        workers, noise = sizes(budget)
        reason = (
            f"points of {len(points)} on the maps, n = {workers[0]} .. {workers[-1]}, sigma2 = "
            f"{', '.join(map('{:g}'.format, noise))}; what bounds let cost {1 + SHARE:g} costs "
            f"{max(costs):.2f} at most; {len(budget.all_seeds[:SEEDS])} seeds, simulated"
        )
        pictures = [
            Series(
                f"H that costs {SHARE:.0%}, sigma2 = {sigma2:g}",
                "workers n",
                f"H ({PERIODS[-1]}: or more)",
                tuple(
                    one
                    for kind in KINDS
                    for one in lines([points[kind, sigma2, n] for n in workers], f", {kind}")
                ),
                log_x=True,
                log_y=True,
            )
            for sigma2 in noise
        ]
        return judged(self.subject, list(points.values()), reason).drawn(*pictures)

    def point(self, found: Found, budget: Budget, kind: str, n: int, sigma2: float) -> Point:
        """Return what was measured and predicted at a point of the map."""
        errors = [
            [error(kind, found["critical_period", kind, n, sigma2, H, seed]) for H in self.periods]
            for seed in budget.all_seeds[:SEEDS]
        ]
        believed = [max(1, round(self.counted * H)) for H in PERIODS]
        if kind == "alike":
            return Point(n, PERIODS, errors, [alike(n, sigma2, H) for H in believed])
        bounds, exact = zip(*(unlike(n, sigma2, H) for H in believed), strict=True)
        return Point(n, PERIODS, errors, bounds, exact)


def sizes(budget: Budget) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return the numbers of workers, and the sigma2."""
    return (FEW, LITTLE) if budget.quick else (WORKERS, NOISE)


def the_map(budget: Budget) -> list[tuple[int, float]]:
    """Return n and sigma2 of all points."""
    workers, noise = sizes(budget)
    return [(n, sigma2) for sigma2 in noise for n in workers]


def error(kind: str, run: Any) -> float:
    """Return the mean error of the rows that count."""
    column, least = "distance2", 0.0
    if kind == "alike":
        column, least = "loss", run.job.run.problem.constants.f_star
    return float(np.mean(run.curve[column][run.curve["step"] >= ROW] - least))


def alike(n: int, sigma2: float, H: int) -> float:
    """Return the bound for equal functions."""
    from theory.catalogue import THEOREMS

    L = Softplus(n, 0).constants.L or 0.0
    known = {"n": n, "T": STEPS, "gam": GAM, "L": L, "sigma2": sigma2, "R2": 0.0}
    return THEOREMS["local-sgd-convex-iid"].at(H=H, **known)


def unlike(n: int, sigma2: float, H: int) -> tuple[float, float]:
    """Return the bound for functions that differ, and the exact error."""
    from theory.bent import Bent as Exact
    from theory.catalogue import THEOREMS

    known = Exact(n, BEND, 1.0, sigma2)
    mean, variance = known.moments(H, STEPS, GAM)
    zeta2 = known.disagreement(mean, variance)
    bound = THEOREMS["local-sgd-nonconvex"].at(
        n=n, T=STEPS, H=H, gam=GAM, L=known.L, sigma2=sigma2, zeta2=zeta2, Delta=0.0
    )
    return bound, float((mean**2 + variance)[ROW::ROW].mean())


claims.register("critical_period")(CriticalPeriod())
