"""Late means cost noise: what s clocks of delay add to the error is known exactly.

Theorem     theory.delayed: the second moments of x_{t+1} = x_t - gam mean_i g_i(x_{t-s}) on
            quadratics. They grow with s, up to gam L = 2 sin(pi / (4 s + 2)), where they explode
Problem     f = |x|^2 / 2 with additive noise, from its minimum; all-reduces that are applied s
            clocks late (Pipe-SGD: ssp:s / allreduce)
Measured    the mean over late clocks of |x_t|^2 over its exact value, for every s; and that of the
            longest s over the value without delay, which it must not be
Broken if   means come sooner or later than they say
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from bench.claims import Budget, claims
from bench.jobs import Found, Job
from bench.judge import Subject, Verdict, attained, told_apart, worst
from bench.series import Series, line, measured
from mpiddl.arrays import Array
from mpiddl.problems.quadratic import iso
from mpiddl.train import Run
from mpiddl.variant import Variant

__all__ = ["StalenessPrice"]

WORKERS, D, GAM = 2, 200, 0.1
CLOCKS, FIRST = 120, 40  # in all, and the first that counts: where noise has gathered
STALENESS = (0, 1, 2, 4, 8)


@dataclass(frozen=True)
class StalenessPrice:
    """The claim that means which come as late as `run` says cost as much as if `claimed`."""

    run: tuple[int, ...] = STALENESS
    claimed: tuple[int, ...] = STALENESS

    subject: ClassVar[Subject] = Subject(
        "means that come s clocks late cost exactly so much noise", "theory.delayed"
    )

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return one run per staleness and seed."""
        return [
            budget.job(
                ("staleness_price", s, seed),
                Run(
                    Variant.parse(f"ssp:{s} / allreduce / identity / whole / sgd:{GAM}"),
                    iso(WORKERS, seed, d=D, radius=0.0),
                    CLOCKS,
                    every=1,
                ),
            )
            for s in dict.fromkeys(self.run)
            for seed in budget.all_seeds
        ]

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge the noise under every staleness against its exact value."""
        noise = [
            [
                float(found["staleness_price", s, seed].curve["distance2"][FIRST:-1].mean())
                for seed in budget.all_seeds
            ]
            for s in self.run
        ]
        known = [exact(s)[FIRST:].mean() for s in self.claimed]
        each = [
            attained(self.subject, seen, [value] * len(seen), "")
            for seen, value in zip(noise, known, strict=True)
        ]
        kept, longest = worst(each), self.claimed[-1]
        prompt = attained(self.subject, noise[-1], [exact(0)[FIRST:].mean()] * len(noise[-1]), "")
        reason = (
            f"mean |x_t|^2 over its exact value, s = {self.claimed[each.index(kept)]}; s = "
            f"{longest} over s = 0: {prompt.measured:.2f}; n = {WORKERS}, {budget.told(WORKERS)}"
        )
        lines = (
            measured("measured", self.claimed, list(np.transpose(noise))),
            line("exact", self.claimed, known, "theory"),
        )
        return replace(told_apart(kept, prompt), reason=reason).drawn(
            Series("Price of staleness", "clocks s that means are late", "|x|^2", lines)
        )


def exact(s: int) -> Array:
    """Return E|x_t|^2 after every clock t < T but the last, where all that is late comes, (T,)."""
    from theory.delayed import second_moments
    from theory.testbed import Quadratic

    clocks = np.arange(CLOCKS)
    oracle = Quadratic(1, D, 1.0, 1.0 / WORKERS, 0.0, 0.0, np.ones(D))
    steps = np.full(CLOCKS, GAM)
    moments: Array = second_moments(np.maximum(clocks - s, 0), steps, oracle).squares.sum(axis=1)
    return moments[np.maximum(clocks - s, 0)]  # the first mean is applied after s clocks


claims.register("staleness_price")(StalenessPrice())
