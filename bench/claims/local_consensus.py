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

from bench.claims import Budget, claims
from bench.jobs import Found, Job, Outcome
from bench.judge import Subject, Verdict, bound, undecided
from mpiddl.problems.nonconvex import NonConvex
from mpiddl.train import Run
from mpiddl.variant import Variant

__all__ = ["LocalConsensus"]

WORKERS, STEPS, GAM = 4, 160, 0.05


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
        if budget.ranks < WORKERS:
            return ()
        variant = Variant.parse(f"local:{self.period} / allreduce / identity / whole / sgd:{GAM}")
        return [
            Job(
                ("local_consensus", seed),
                Run(variant, NonConvex(WORKERS, seed, zeta2=1.0), STEPS // self.period),
                watched=True,
                mpi=budget.under_mpi(seed),
            )
            for seed in budget.all_seeds
        ]

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge the mean squared distance to the mean model against the lemma."""
        from theory.catalogue import THEOREMS

        if budget.ranks < WORKERS:
            return undecided(self.subject, f"needs {WORKERS} ranks, there are {budget.ranks}")
        runs = [found["local_consensus", seed] for seed in budget.all_seeds]
        problem = runs[0].job.run.problem
        limit = THEOREMS[self.subject.theorem].perturbation_at(
            n=WORKERS,
            T=STEPS,
            H=self.claimed,
            gam=GAM,
            L=problem.constants.L or 0.0,
            sigma2=problem.constants.sigma2 or 0.0,
            zeta2=problem.constants.zeta2 or 0.0,
            Delta=problem.loss(problem.start()),
        )
        reason = f"|x_i - xbar|^2 over the lemma, H = {self.claimed}, n = {WORKERS}"
        apart = [spread(run) for run in runs]
        return bound(self.subject, apart, [limit] * len(apart), f"{reason}, {len(apart)} seeds")


def spread(run: Outcome) -> float:
    """Return the mean over steps of (1/n) sum |y_i - ybar|^2."""
    models = [trace.y for trace in run.traces]
    mean = sum(models) / len(models)
    return float(sum(((y - mean) ** 2).sum(axis=1).mean() for y in models) / len(models))


claims.register("local_consensus")(LocalConsensus())
