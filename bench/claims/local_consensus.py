"""Local steps cost agreement, and no more of it than the lemma says.

Theorem     local-sgd-nonconvex, its lemma: mean over steps of (1/n) sum |x_i - xbar|^2 is at most
            mean over k < H of (drift_k + spread_k)^2; noise adds in squares, disagreement of the
            functions adds up
Problem     nc, which is not convex, with zeta2 = 1
Measured    that mean at the points where gradients are taken, over the lemma
Broken if   workers average less often than they say
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bench.claims import Budget, claims
from bench.jobs import Found, Job, Outcome
from bench.judge import Subject, Verdict, bound
from bench.series import Series, line, measured
from mpiddl.arrays import Array
from mpiddl.problems.nonconvex import NonConvex
from mpiddl.train import Run
from mpiddl.variant import Variant

__all__ = ["LocalConsensus"]

WORKERS, STEPS, GAM, ZETA2 = 4, 160, 0.05, 1.0


@dataclass(frozen=True)
class LocalConsensus:
    """The claim that workers who average every `period` steps are as close as if `claimed`."""

    period: int = 8
    claimed: int = 8

    subject: ClassVar[Subject] = Subject(
        "H local steps part workers within the lemma", "local-sgd-nonconvex"
    )

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return one run per seed."""
        variant = Variant.parse(f"local:{self.period} / allreduce / identity / whole / sgd:{GAM}")
        return [
            budget.job(
                ("local_consensus", self.period, seed),
                Run(variant, NonConvex(WORKERS, seed, zeta2=ZETA2), STEPS // self.period),
                watched=True,
            )
            for seed in budget.all_seeds
        ]

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge the mean squared distance to the mean model against the lemma."""
        runs = [found["local_consensus", self.period, seed] for seed in budget.all_seeds]
        apart = [spread(run) for run in runs]
        reason = (
            f"|x_i - xbar|^2 over the lemma, H = {self.claimed}, n = {WORKERS}, "
            f"{budget.told(WORKERS)}"
        )
        limits = [lemma(self.claimed)] * len(runs)
        verdict = bound(self.subject, [one.mean() for one in apart], limits, reason)
        rounds = [one.reshape(-1, self.period).mean(axis=0) for one in apart]
        steps = range(1, self.claimed)
        one_by_one = [k * lemma(k) - (k - 1) * lemma(k - 1) for k in range(2, self.claimed + 1)]
        lines = (
            measured("measured", range(1, self.period), [one[1:] for one in rounds]),
            line("lemma", steps, one_by_one, "bound"),
        )
        return verdict.drawn(
            Series("Workers part", "steps since the last average", "|x_i - xbar|^2", lines)
        )


def lemma(period: int) -> float:
    """Return the lemma's bound on the mean over rounds of `period` steps; none has none."""
    from theory.catalogue import THEOREMS

    if not period:
        return 0.0
    problem = NonConvex(WORKERS, 0, zeta2=ZETA2)
    return THEOREMS[LocalConsensus.subject.theorem].perturbation_at(
        n=WORKERS,
        T=STEPS * period,  # any whole number of rounds
        H=period,
        gam=GAM,
        L=problem.constants.L or 0.0,
        sigma2=problem.constants.sigma2 or 0.0,
        zeta2=ZETA2,
        Delta=problem.loss(problem.start()),
    )


def spread(run: Outcome) -> Array:
    """Return (1/n) sum |y_i - ybar|^2 at every step, (T,)."""
    models = np.stack([trace.y for trace in run.traces])
    apart: Array = ((models - models.mean(axis=0)) ** 2).sum(axis=2).mean(axis=0)
    return apart


claims.register("local_consensus")(LocalConsensus())
