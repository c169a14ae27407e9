"""Local steps are not free: where f is skewed they cost loss, and no more of it than the bound.

Theorem     local-sgd-convex-iid: mean over steps of f(xbar_t) - f*, xbar the mean of all models
Problem     softplus: all workers have the same f, but f' is not linear, so workers that part move
            the mean. On a quadratic H would not show at all
Measured    that mean over the bound; and that H = 8 costs more than H = 1 with the same noise
Broken if   workers average after every step: then there is nothing to be seen of H
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from bench.claims import Budget, claims
from bench.jobs import Found, Job, Outcome
from bench.judge import Subject, Verdict, bound, told_apart
from bench.series import Series, line, measured
from mpiddl.problems.softplus import Softplus
from mpiddl.train import Run
from mpiddl.variant import Variant

__all__ = ["LocalPrice"]

WORKERS, STEPS, GAM, SIGMA2, D = 4, 160, 0.4, 40.0, 40
LINE = "local:{} / allreduce / identity / whole / sgd:{}"


@dataclass(frozen=True)
class LocalPrice:
    """The claim about workers who average every `claimed[-1]` steps and run as `periods` say."""

    periods: tuple[int, ...] = (1, 4, 8)
    claimed: tuple[int, ...] = (1, 4, 8)

    subject: ClassVar[Subject] = Subject(
        "local steps cost loss, within the bound", "local-sgd-convex-iid"
    )

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return one run per period and seed."""
        return [
            budget.job(
                ("local_price", period, seed),
                Run(
                    Variant.parse(LINE.format(period, GAM)),
                    Softplus(WORKERS, seed, sigma2=SIGMA2, d=D),
                    STEPS // period,
                ),
                watched=True,
            )
            for period in dict.fromkeys(self.periods)
            for seed in budget.all_seeds
        ]

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge the loss of the longest period against the bound and against that of period 1."""
        gaps = [
            [gap(found["local_price", period, seed]) for period in self.periods]
            for seed in budget.all_seeds
        ]
        limits = [limit(period) for period in self.claimed]
        long = [row[-1] for row in gaps]
        kept = bound(self.subject, long, [limits[-1]] * len(long), "")
        free = bound(self.subject, long, [row[0] for row in gaps], "")
        reason = (
            f"f(xbar) - f* over the bound, H = {self.claimed[-1]}; it is {free.measured:.3g} times "
            f"that of H = 1; n = {WORKERS}, {budget.told(WORKERS)}"
        )
        lines = (
            measured("measured", self.claimed, gaps),
            line(self.subject.theorem, self.claimed, limits, "bound"),
        )
        return replace(told_apart(kept, free), reason=reason).drawn(
            Series("Loss of local steps", "H", "f(xbar) - f*", lines, log_x=True, log_y=True)
        )


def gap(run: Outcome) -> float:
    """Return the mean over steps of f(xbar) - f*."""
    problem = run.job.run.problem
    means = np.mean([trace.y for trace in run.traces], axis=0)
    losses = [problem.loss(x) for x in means]
    return float(np.mean(losses)) - (problem.constants.f_star or 0.0)


def limit(period: int) -> float:
    """Return the bound for `period` local steps."""
    from theory.catalogue import THEOREMS

    problem = Softplus(WORKERS, 0, sigma2=SIGMA2, d=D)
    away = problem.start() - problem.optimum
    return THEOREMS[LocalPrice.subject.theorem].at(
        n=WORKERS,
        T=STEPS,
        H=period,
        gam=GAM,
        L=problem.constants.L or 0.0,
        sigma2=SIGMA2,
        R2=float(away @ away),
    )


claims.register("local_price")(LocalPrice())
