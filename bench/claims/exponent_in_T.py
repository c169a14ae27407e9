"""Long runs pay as their exponents say: T^(-1/2) at the tuned step, T^(-1) where f is curved.

Theorem     bsp-convex, gam = sqrt(R2 n / (T sigma2)): the mean of f(x_t) - f* falls as T^(-1/2);
            bsp-sc-decreasing, gam_t = 1/(mu (t + a)): |x_T - x*|^2 falls as T^(-1)
Problem     f = |x|^2 / 2 with additive noise; there the second bound is attained, and with a = 1
            x_T is the mean of T gradients
Measured    slope of the logarithm over log T
Regime      noise: gam L is 0.1 at the shortest T and falls, so the step is never cut to 1/L, and
            gam L T >= 6: the start is forgotten
Broken if   the step is not what it should be: if it stays the same, the slope is 0
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from bench.claims import Budget, claims
from bench.jobs import Found, Job
from bench.judge import Subject, Verdict, exponent
from bench.series import Series, line, measured
from mpiddl.problems.quadratic import iso
from mpiddl.train import Run
from mpiddl.variant import Variant

__all__ = ["Decreasing", "Tuned"]

LINE = "bsp / allreduce / identity / whole / sgd:{}"
T_TUNED, FIRST_STEP = (64, 128, 256, 512), 0.1
T_DECREASING, D = (16, 32, 64, 128, 256), 1000


@dataclass(frozen=True)
class Tuned:
    """The claim about runs whose step is chosen for their T; `power` is that of T in the step."""

    power: float = -0.5
    workers: int = 2

    subject: ClassVar[Subject] = Subject(
        "at the tuned step the error falls as T^(-1/2)", "bsp-convex"
    )

    @property
    def sigma2(self) -> float:
        """The noise for which the step that is tuned for the shortest T is `FIRST_STEP`."""
        return self.workers / (T_TUNED[0] * FIRST_STEP**2)

    def step(self, T: int) -> float:
        """Return the step size of the runs of T clocks."""
        return FIRST_STEP * float((T / T_TUNED[0]) ** self.power)

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return one run per T and seed."""
        n = self.workers
        return [
            budget.job(
                ("tuned", self.power, T, seed),
                Run(
                    Variant.parse(LINE.format(self.step(T))),
                    iso(n, seed, d=100, sigma2=self.sigma2),
                    T,
                    every=1,
                ),
            )
            for T in T_TUNED
            for seed in budget.all_seeds
        ]

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge the slope of the mean gap over T."""
        from theory.catalogue import THEOREMS

        theorem, n = THEOREMS[self.subject.theorem], self.workers
        assert theorem.tuned is not None
        known = {"n": n, "L": 1.0, "R2": 1.0, "sigma2": self.sigma2}
        limits = [theorem.at(T=T, gam=self.step(T), **known) for T in T_TUNED]
        gaps = [
            [found["tuned", self.power, T, seed].curve["loss"][:-1].mean() for T in T_TUNED]
            for seed in budget.all_seeds
        ]
        reason = f"slope over T = {T_TUNED[0]} .. {T_TUNED[-1]}, n = {n}, {budget.told(n)}"
        verdict = exponent(self.subject, T_TUNED, gaps, float(theorem.tuned.rate_T), reason)
        lines = measured("measured", T_TUNED, gaps), line(theorem.name, T_TUNED, limits, "bound")
        return verdict.drawn(
            Series("Mean gap", "clocks T", "f(x) - f*", lines, log_x=True, log_y=True)
        )


@dataclass(frozen=True)
class Decreasing:
    """The claim about one run; `rate` is its step size, as text."""

    rate: str = "1@decay:1"
    workers: int = 4

    subject: ClassVar[Subject] = Subject(
        "with steps 1/t the error falls as 1/T", "bsp-sc-decreasing"
    )

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return one run per seed."""
        variant = Variant.parse(LINE.format(self.rate))
        return [
            budget.job(
                ("decreasing", self.rate, seed),
                Run(variant, iso(self.workers, seed, d=D), T_DECREASING[-1], every=4),
            )
            for seed in budget.all_seeds
        ]

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge the slope of the error over T, along each run."""
        from theory.catalogue import THEOREMS

        theorem, n = THEOREMS[self.subject.theorem], self.workers
        assert theorem.tuned is not None
        errors = [self.errors(found["decreasing", self.rate, s].curve) for s in budget.all_seeds]
        limits = [theorem.at(n=n, T=T, L=1, mu=1, R2=1, sigma2=1, a=1) for T in T_DECREASING]
        where = f"T = {T_DECREASING[0]} .. {T_DECREASING[-1]}"
        reason = f"slope over {where}, n = {n}, {budget.told(n)}"
        verdict = exponent(self.subject, T_DECREASING, errors, float(theorem.tuned.rate_T), reason)
        lines = (
            measured("measured", T_DECREASING, errors),
            line(theorem.name, T_DECREASING, limits, "theory"),
        )
        return verdict.drawn(
            Series("Error", "clocks T", "|x - x*|^2", lines, log_x=True, log_y=True)
        )

    def errors(self, curve: Any) -> list[float]:
        """Return |x_T - x*|^2 at every T."""
        return [curve["distance2"][curve["clock"] == T][0] for T in T_DECREASING]


claims.register("exponent_in_T")(Tuned())
claims.register("exponent_in_T_decreasing")(Decreasing())
