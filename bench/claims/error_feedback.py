"""Error feedback repairs what compression breaks: with memory the bound holds, without it does not.

Theorem     ef-sgd-nonconvex with delta = 1/3 (one entry of three is sent)
Problem     three workers that pull apart: f_i = (a_i.x)^2 + |x|^2 / 4, a_1 = (-3, 2, 2) and its
            rotations, x0 = (1, 1, 1). Every worker sends the entry that hurts the other two, so
            without memory x grows by 1 + 11 gam / 6 a step although f is strongly convex
Source      Beznosikov, Horvath, Richtarik & Safaryan, "On biased compression for distributed
            learning", 2020.  arXiv:2002.12410
Measured    mean of |grad f(x_t)|^2 over the bound, with memory and without, the same noise in both
Broken if   memory is lost: then both runs violate the bound
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from bench.claims import Budget, claims
from bench.jobs import Found, Job, Outcome
from bench.judge import Outcome as Decision
from bench.judge import Subject, Verdict, bound, undecided
from mpiddl.arrays import Array, Purpose, stream
from mpiddl.layout import Layout
from mpiddl.problems import NEED, READY, Constants, Event
from mpiddl.problems.base import Base
from mpiddl.train import Run
from mpiddl.variant import Variant

__all__ = ["ErrorFeedback", "TugOfWar"]

WORKERS, CLOCKS, GAM, SIGMA2 = 3, 250, 0.006, 1.0
PULLS = np.array([(-3.0, 2.0, 2.0), (2.0, -3.0, 2.0), (2.0, 2.0, -3.0)])
HESSIAN = 2 / WORKERS * PULLS.T @ PULLS + np.eye(3) / 2  # of f; eigenvalues 7/6, 103/6, 103/6


class TugOfWar(Base):
    """The problem above, with noise N(0, SIGMA2/3 I)."""

    optimum: Array | None = np.zeros(3)
    constants = Constants(L=103 / 6, mu=7 / 6, sigma2=SIGMA2, zeta2=None, f_star=0.0)

    def __init__(self, seed: int) -> None:
        super().__init__("tug_of_war", WORKERS, seed, Layout(("x",), ((3,),)), np.float64)

    def start(self) -> Array:
        """Return (1, 1, 1)."""
        return np.ones(3)

    def batch(self, worker: int, step: int) -> Any:
        """Return the worker and its noise (3,)."""
        draws = stream(self.seed, Purpose.NOISE, worker, step).standard_normal(3)
        return worker, np.sqrt(SIGMA2 / 3) * draws

    def gradient(self, x: Array, batch: Any, out: Array) -> Iterator[tuple[Event, int]]:
        """Write g_i at `x` (3,) into `out` (3,)."""
        yield NEED, 0
        worker, noise = batch
        out[...] = self.full_gradient(x, worker) + noise
        yield READY, 0

    def loss(self, x: Array) -> float:
        """Return f at `x` (3,)."""
        return float(x @ HESSIAN @ x) / 2

    def full_gradient(self, x: Array, worker: int | None = None) -> Array:
        """Return grad f or grad f_i at `x` (3,)."""
        if worker is None:
            return HESSIAN @ x
        return 2 * (PULLS[worker] @ x) * PULLS[worker] + x / 2

    def noise2(self, x: Array) -> float:
        """Return SIGMA2."""
        return SIGMA2


@dataclass(frozen=True)
class ErrorFeedback:
    """The claim about two channels, one that remembers and one that does not."""

    remembering: str = "ef+topk:0.3"
    forgetting: str = "topk:0.3"

    subject: ClassVar[Subject] = Subject(
        "top-k keeps its bound with memory only", "ef-sgd-nonconvex"
    )

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return two runs per seed."""
        if budget.ranks < WORKERS:
            return ()
        return [
            Job(
                ("error_feedback", role, seed),
                Run(Variant.parse(LINE.format(channel, GAM)), TugOfWar(seed), CLOCKS, every=1),
                watched=True,
                mpi=budget.under_mpi(seed),
            )
            for role, channel in (("with", self.remembering), ("without", self.forgetting))
            for seed in budget.all_seeds
        ]

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge the run with memory against the bound, and that the run without is above it."""
        if budget.ranks < WORKERS:
            return undecided(self.subject, f"needs {WORKERS} ranks, there are {budget.ranks}")
        limits = [limit(found["error_feedback", "with", seed]) for seed in budget.all_seeds]
        verdicts = {}
        for role in ("with", "without"):
            runs = [found["error_feedback", role, seed] for seed in budget.all_seeds]
            measured = [run.curve["grad_norm2"][:-1].mean() for run in runs]
            verdicts[role] = bound(self.subject, measured, limits, "")
        kept, broken = verdicts["with"], verdicts["without"]
        reason = (
            f"|grad f|^2 over its bound: {kept.measured:.2g} with memory, {broken.measured:.2g} "
            f"without; n = {WORKERS}, {budget.seeds} seeds"
        )
        outcome = kept.outcome
        if outcome is Decision.HOLDS and broken.outcome is not Decision.FAILS:
            outcome = Decision.FAILS if broken.outcome is Decision.HOLDS else broken.outcome
        return replace(kept, outcome=outcome, reason=reason)


LINE = "bsp / allreduce / {} / whole / sgd:{}>sgd:1"


def limit(run: Outcome) -> float:
    """Return the bound for the run with memory; zeta2 is the largest heterogeneity on its way."""
    from theory.catalogue import THEOREMS

    problem = TugOfWar(0)
    zeta2 = max(problem.heterogeneity2(x) for x in run.traces[0].y)
    return THEOREMS[ErrorFeedback.subject.theorem].at(
        n=WORKERS,
        T=CLOCKS,
        gam=GAM,
        L=103 / 6,
        sigma2=SIGMA2,
        zeta2=zeta2,
        delta=1 / 3,
        Delta=problem.loss(problem.start()),
    )


claims.register("error_feedback")(ErrorFeedback())
