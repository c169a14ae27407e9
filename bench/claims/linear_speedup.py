"""n workers are worth n times the steps of one: the stationary error falls as 1/n.

Theorem     bsp-sc-const; on f = |x|^2 / 2 with additive noise its bound is attained, and for large
            T it is gam sigma2 / (n L (2 - gam L))
Measured    mean of |x_t - x*|^2 after a burn-in, for n = 1, 2, 4, .. workers, groups of n ranks
            side by side; slope of its logarithm over log n
Regime      noise: the start is forgotten after `BURN_IN` clocks, (1 - gam L)^(2 BURN_IN) = 6e-8
Broken if   workers do not draw noise of their own: then the slope is 0
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from bench.claims import Budget, claims
from bench.jobs import Found, Job
from bench.judge import Subject, Verdict, exponent
from bench.series import Series, line, measured
from mpiddl.problems import Problem
from mpiddl.problems.quadratic import iso
from mpiddl.train import Run
from mpiddl.variant import Variant

__all__ = ["LinearSpeedup"]

VARIANT, GAM = "bsp / allreduce / identity / whole / sgd:0.5", 0.5
CLOCKS, BURN_IN = 24, 12
LEAST = 8  # workers at most: a slope over few sizes says little


@dataclass(frozen=True)
class LinearSpeedup:
    """The claim; `problem` makes what is learnt from a number of workers and a seed."""

    problem: Callable[[int, int], Problem] = partial(iso, d=400)

    subject: ClassVar[Subject] = Subject("n workers divide the noise by n", "bsp-sc-const")

    def sizes(self, ranks: int) -> list[int]:
        """Return the powers of two up to `ranks`, or up to `LEAST`."""
        return [1 << k for k in range(max(ranks, LEAST).bit_length())]

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return one run per size and seed."""
        variant = Variant.parse(VARIANT)
        return [
            budget.job(
                ("linear_speedup", n, seed), Run(variant, self.problem(n, seed), CLOCKS, every=1)
            )
            for n in self.sizes(budget.ranks)
            for seed in budget.all_seeds
        ]

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge the slope over n against the exponent of the catalogue."""
        from theory.catalogue import THEOREMS

        theorem, sizes = THEOREMS[self.subject.theorem], self.sizes(budget.ranks)
        assert theorem.tuned is not None
        errors = [
            [found["linear_speedup", n, seed].curve["distance2"][BURN_IN:].mean() for n in sizes]
            for seed in budget.all_seeds
        ]
        limits = [theorem.at(n=n, T=CLOCKS, gam=GAM, L=1, mu=1, R2=1, sigma2=1) for n in sizes]
        reason = f"slope of the error over n = {sizes[0]} .. {sizes[-1]}, {budget.told(LEAST)}"
        verdict = exponent(self.subject, sizes, errors, float(theorem.tuned.rate_n), reason)
        lines = measured("measured", sizes, errors), line(theorem.name, sizes, limits, "theory")
        return verdict.drawn(
            Series("Stationary error", "workers n", "|x - x*|^2", lines, log_x=True, log_y=True)
        )


claims.register("linear_speedup")(LinearSpeedup())
