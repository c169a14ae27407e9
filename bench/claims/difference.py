"""Who says what changed is understood in the end: compressed descent that misses nothing.

Theorem     ef21: with exact gradients, the mean over t < T of |grad f(x_t)|^2 falls as 1/T however
            workers differ; zeta2 is not in it
Problem     heta: quadratics that bend differently on every worker, without noise. At the minimum
            of f no f_i is at its own, so what is lost of every gradient, and not made good, adds up
            to a direction that is not there
Measured    that mean over the bound for diff+topk, and that topk alone stalls above it; error
            feedback, which is drawn beside them, stalls lower, at a height that gam sets
Broken if   both ends forget what was said
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from bench.claims import Budget, claims
from bench.jobs import Found, Job
from bench.judge import Subject, Verdict, bound, told_apart
from bench.series import Series, line
from mpiddl.problems.heta import Quadratics, heta
from mpiddl.train import Run
from mpiddl.variant import Variant

__all__ = ["Difference"]

WORKERS, CLOCKS, GAM, SHARE = 4, 300, 0.1, 0.2
LINE = "bsp / allreduce / {} / whole / sgd:{}"
SPECTRUM = tuple(float(a) for a in np.geomspace(0.1, 1.0, 10))
REMEMBERED = f"ef+topk:{SHARE}"


def learnt(seed: int) -> Quadratics:
    """Return the problem; it has no noise, so the seed does not matter."""
    found: Quadratics = heta(WORKERS, seed, spectrum=SPECTRUM, sigma2=0.0, radius=0.0)
    return found


@dataclass(frozen=True)
class Difference:
    """The claim about two channels, one that refers to what was said and one that does not."""

    referring: str = f"diff+topk:{SHARE}"
    forgetting: str = f"topk:{SHARE}"

    subject: ClassVar[Subject] = Subject("top-k of differences converges exactly", "ef21")

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return one run per channel."""
        return [
            budget.job(
                ("difference", channel),
                Run(
                    Variant.parse(LINE.format(channel, GAM)),
                    learnt(budget.seed),
                    CLOCKS,
                    every=1,
                ),
            )
            for channel in dict.fromkeys((self.referring, self.forgetting, REMEMBERED))
        ]

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge the run with references against the bound, and that the other is above it."""
        from theory.catalogue import THEOREMS

        problem = learnt(budget.seed)
        x, constants = problem.start(), problem.constants
        first = [float(np.sum(problem.full_gradient(x, i) ** 2)) for i in range(WORKERS)]
        known = {"gam": GAM, "L": constants.L or 0.0, "Ltil": constants.L or 0.0, "delta": SHARE}
        known["G0"] = (1 - SHARE) * sum(first) / WORKERS  # after the first message, from h = 0
        known["Delta"] = problem.loss(x) - (constants.f_star or 0.0)
        theorem = THEOREMS[self.subject.theorem]
        limit = theorem.at(T=CLOCKS, **known)
        runs = {
            channel: found["difference", channel].curve["grad_norm2"]
            for channel in (self.referring, self.forgetting, REMEMBERED)
        }
        kept, broken = (
            bound(self.subject, [runs[channel][:-1].mean()], [limit], "", exact=True)
            for channel in (self.referring, self.forgetting)
        )
        reason = (
            f"|grad f|^2 over the bound; topk alone {broken.measured:.2g}; in the end "
            f"{runs[self.referring][-1]:.0e} and {runs[self.forgetting][-1]:.0e}; n = {WORKERS}"
        )
        clocks = np.arange(CLOCKS + 1)
        lines = [line(channel, clocks, np.maximum(run, 1e-16)) for channel, run in runs.items()]
        means = [theorem.at(T=T, **known) for T in clocks[5::5]]
        lines.append(line("mean so far, at most", clocks[5::5], means, "bound"))
        return replace(told_apart(kept, broken), reason=reason).drawn(
            Series("What is lost of top-k", "clock", "|grad f|^2", tuple(lines), log_y=True)
        )


claims.register("difference")(Difference())
