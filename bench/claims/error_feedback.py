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

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from bench.claims import Budget, claims
from bench.jobs import Found, Job, Outcome
from bench.judge import Subject, Verdict, bound, told_apart
from bench.series import Series, line, measured
from mpiddl.problems.heta import bez
from mpiddl.train import Run
from mpiddl.variant import Variant

__all__ = ["ErrorFeedback"]

WORKERS, CLOCKS, GAM, SMOOTH = 3, 200, 0.006, 103 / 6  # L of f; that of every f_i is twice as large
SIGMA2 = 0.1
LINE = "bsp / allreduce / {} / whole / sgd:{}>sgd:1"


@dataclass(frozen=True)
class ErrorFeedback:
    """The claim about two channels, one that remembers and one that does not."""

    remembering: str = "ef+topk:0.3"
    forgetting: str = "topk:0.3"

    subject: ClassVar[Subject] = Subject(
        "top-k keeps its bound with memory only", "ef-sgd-nonconvex"
    )

    @property
    def channels(self) -> tuple[str, str]:
        """With memory and without, as claimed."""
        return self.remembering, self.forgetting

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return two runs per seed."""
        return [
            budget.job(
                ("error_feedback", channel, seed),
                Run(
                    Variant.parse(LINE.format(channel, GAM)),
                    bez(WORKERS, seed, sigma2=SIGMA2),
                    CLOCKS,
                    every=1,
                ),
                watched=True,
            )
            for channel in dict.fromkeys(self.channels)
            for seed in budget.all_seeds
        ]

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge the run with memory against the bound, and that the run without is above it."""
        runs, others = (
            [found["error_feedback", channel, seed] for seed in budget.all_seeds]
            for channel in self.channels
        )
        limits = [limit(run) for run in runs]
        kept, broken = (
            bound(self.subject, [run.curve["grad_norm2"][:-1].mean() for run in some], limits, "")
            for some in (runs, others)
        )
        reason = (
            f"|grad f|^2 over its bound; {broken.measured:.2g} without memory; n = {WORKERS}, "
            f"{budget.told(WORKERS)}"
        )
        clocks = runs[0].curve["clock"]
        lines = (
            measured("with memory", clocks, [run.curve["grad_norm2"] for run in runs]),
            measured("without", clocks, [run.curve["grad_norm2"] for run in others]),
            line("mean, at most", clocks, sum(limits) / len(limits), "bound"),
        )
        return replace(told_apart(kept, broken), reason=reason).drawn(
            Series("Top-k with and without memory", "clock", "|grad f|^2", lines, log_y=True)
        )


def limit(run: Outcome) -> float:
    """Return the bound for the run with memory; zeta2 is the largest heterogeneity on its way."""
    from theory.catalogue import THEOREMS

    problem = bez(WORKERS, 0, sigma2=SIGMA2)
    zeta2 = max(problem.heterogeneity2(x) for x in run.traces[0].y)
    return THEOREMS[ErrorFeedback.subject.theorem].at(
        n=WORKERS,
        T=CLOCKS,
        gam=GAM,
        L=SMOOTH,
        sigma2=problem.constants.sigma2 or 0.0,
        zeta2=zeta2,
        delta=1 / 3,
        Delta=problem.loss(problem.start()),
    )


claims.register("error_feedback")(ErrorFeedback())
