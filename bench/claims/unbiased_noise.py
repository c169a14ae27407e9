"""Compression without bias multiplies the noise by 1 + omega, if everyone errs on his own.

Theorem     qsgd-nonconvex, for errors that are independent over workers; qsgd-nonconvex-shared, if
            all workers draw the same mask: their errors do not average out, only the noise does
Problem     f = |x|^2 / 2 with additive noise, where both are equations for randk: of every vector
            omega |x|^2 is lost, and what the theorems drop, f(x_T) - f*, is put back
Measured    mean of |grad f(x_t)|^2 + 2 (f(x_T) - f*) / (gam T (2 - gam L c)), c as in the bound,
            over the bound; for qsgd, whose omega is that of the worst vector, at most 1
Broken if   other entries are sent than claimed, or all workers draw the same ones
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from bench.claims import Budget, claims
from bench.jobs import Found, Job, Outcome
from bench.judge import Subject, Verdict, attained, bound, told_apart
from bench.series import Line, Series, line, measured
from mpiddl.problems.quadratic import iso
from mpiddl.train import Run
from mpiddl.variant import Variant

__all__ = ["SharedMask", "UnbiasedNoise"]

WORKERS, CLOCKS, D, LEVELS = 4, 120, 160, 8
OWN, ONE = "qsgd-nonconvex", "qsgd-nonconvex-shared"
LINE = "bsp / allreduce / {} / whole / sgd:{}"


@dataclass(frozen=True)
class Words:
    """What is sent in runs with step `gam` and disagreement `zeta2`."""

    channel: str
    gam: float
    zeta2: float = 0.0

    def jobs(self, budget: Budget) -> list[Job]:
        """Return one run per seed."""
        variant = Variant.parse(LINE.format(self.channel, self.gam))
        return [
            budget.job(
                ("unbiased", self, seed),
                Run(variant, iso(WORKERS, seed, d=D, zeta2=self.zeta2), CLOCKS, every=1),
            )
            for seed in budget.all_seeds
        ]

    def runs(self, found: Found, budget: Budget) -> list[Outcome]:
        """Return what came out."""
        return [found["unbiased", self, seed] for seed in budget.all_seeds]

    def limit(self, theorem: str, omega: float, clocks: int = CLOCKS) -> float:
        """Return the bound after some clocks; f is |x|^2 / 2, x0 has length 1."""
        from theory.catalogue import THEOREMS

        known = {"n": WORKERS, "L": 1.0, "sigma2": 1.0, "zeta2": self.zeta2, "Delta": 0.5}
        return THEOREMS[theorem].at(T=clocks, gam=self.gam, omega=omega, **known)

    def left(self, theorem: str, omega: float, run: Outcome) -> float:
        """Return what the bound has dropped because f(x_T) >= f*."""
        share = 1 + (omega / WORKERS if theorem == OWN else omega)
        gap = run.curve["loss"][-1]
        return float(2 * gap / (self.gam * CLOCKS * (2 - self.gam * share)))


def mean_square(run: Outcome) -> float:
    """Return the mean of |grad f(x_t)|^2."""
    return float(run.curve["grad_norm2"][:-1].mean())


def omega_of(compressor: str, count: int) -> float:
    """Return the omega that theory proves for k = `count` entries or s = `count` levels of D."""
    from theory.compressors import CONSTANTS

    return CONSTANTS[compressor].at(b=D, k=count, s=count)


def path(label: str, runs: Sequence[Outcome]) -> Line:
    """Return |grad f(x_t)|^2 over t."""
    squares = [run.curve["grad_norm2"][:-1] for run in runs]
    return measured(label, range(CLOCKS), squares)


@dataclass(frozen=True)
class UnbiasedNoise:
    """The claim about random entries, and about levels."""

    entries: Words = Words("randk:0.25", 0.2, 1.0)
    levels: Words = Words(f"qsgd:{LEVELS}", 0.2, 1.0)
    claimed: int = D // 4

    subject: ClassVar[Subject] = Subject("compression multiplies the noise by 1 + omega", OWN)

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return two runs per seed."""
        return [*self.entries.jobs(budget), *self.levels.jobs(budget)]

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge that the one attains its bound, and that the other keeps it."""
        omega, coarse = omega_of("randk", self.claimed), omega_of("qsgd, s > 1", LEVELS)
        runs, others = self.entries.runs(found, budget), self.levels.runs(found, budget)
        limit, above = self.entries.limit(OWN, omega), self.levels.limit(OWN, coarse)
        whole = [mean_square(run) + self.entries.left(OWN, omega, run) for run in runs]
        kept = bound(self.subject, [mean_square(run) for run in others], [above] * len(others), "")
        reason = (
            f"randk: mean |grad f|^2 over its bound; qsgd, at most 1: {kept.measured:.2g}; "
            f"n = {WORKERS}, {budget.told(WORKERS)}"
        )
        verdict = attained(self.subject, whole, [limit] * len(runs), reason)
        if verdict.outcome is kept.outcome.HOLDS:
            verdict = replace(verdict, outcome=kept.outcome)
        clocks = range(CLOCKS)
        return verdict.drawn(
            Series(
                "Compressed gradients",
                "clock",
                "|grad f|^2",
                (
                    path("randk", runs),
                    path("qsgd", others),
                    line("randk, mean", clocks, limit, "theory"),
                    line("qsgd, mean", clocks, above, "bound"),
                ),
                log_y=True,
            )
        )


@dataclass(frozen=True)
class SharedMask:
    """The claim about workers who all send the same entries."""

    words: Words = Words("randk:0.25,mask=shared", 0.3)
    claimed: int = D // 4

    subject: ClassVar[Subject] = Subject("errors of one mask for all do not average out", ONE)

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return one run per seed."""
        return self.words.jobs(budget)

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge that its bound is attained, and that of independent errors broken."""
        omega, runs = omega_of("randk", self.claimed), self.words.runs(found, budget)
        limit, lower = self.words.limit(ONE, omega), self.words.limit(OWN, omega)
        squares = [mean_square(run) for run in runs]
        broken = bound(self.subject, squares, [lower] * len(runs), "")
        reason = (
            f"mean |grad f|^2 over the bound; over that of own masks: {broken.measured:.2f}; "
            f"n = {WORKERS}, {budget.told(WORKERS)}"
        )
        whole = [mean_square(run) + self.words.left(ONE, omega, run) for run in runs]
        verdict = told_apart(attained(self.subject, whole, [limit] * len(runs), reason), broken)
        clocks = range(CLOCKS)
        return verdict.drawn(
            Series(
                "One mask for all",
                "clock",
                "|grad f|^2",
                (
                    path("one mask", runs),
                    line("one mask, mean", clocks, limit, "theory"),
                    line("own masks, mean", clocks, lower, "bound"),
                ),
                log_y=True,
            )
        )


claims.register("unbiased_noise")(UnbiasedNoise())
claims.register("unbiased_noise_shared")(SharedMask())
