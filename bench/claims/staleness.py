"""Nobody runs more than s clocks ahead: what a pull may miss is recorded, and never exceeded.

Theorem     Ho et al. 2013: under ssp:s a pull misses at most s clocks of anybody; so a push is at
            most (2 s + 1)(n - 1) pushes late (ssp-nonconvex), and ssp:0 is bsp
Measured    the clocks that were missing in every answer of the server, and the delay of every push,
            with gradients that take times of their own; s is reached. And every number in the curve
            of ssp:0 by a server against that of bsp by an all-reduce that adds in the same order
Broken if   one pull does not wait for those it should wait for
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from bench.claims import Budget, claims
from bench.jobs import Found, Job, Outcome
from bench.judge import Outcome as Decision
from bench.judge import Subject, Verdict, equal
from bench.series import Line, Series, line
from mpiddl.curve import COLUMNS
from mpiddl.ledger import FIELDS
from mpiddl.problems.quadratic import iso
from mpiddl.train import Run
from mpiddl.variant import Variant
from theory.events import PACES, Durations, Ints

__all__ = ["Staleness", "ZeroStaleness"]

WORKERS, CLOCKS = 3, 60
SECOND = 5e-4  # of a gradient that takes the time 1
PEERS = 4  # a power of two: the mean of equal models, which is what is measured, is exact
SENT = ("seconds", "bytes", "messages")  # columns in which server and all-reduce differ


def seconds(durations: Durations, worker: int, step: int) -> float:
    """Return the seconds of one gradient."""
    return SECOND * durations(worker, step)


@dataclass(frozen=True)
class Staleness:
    """The claim that runs of `variant` miss up to `claimed` clocks."""

    variant: str = "ssp:3"
    claimed: int = 3

    subject: ClassVar[Subject] = Subject(
        "under ssp:3 a pull misses 3 clocks at most", "ssp-nonconvex"
    )

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return one run per seed."""
        text = f"{self.variant} / ps:servers=1 / identity / whole / sgd:0.1"
        jobs = []
        for seed in budget.all_seeds:
            run = Run(
                Variant.parse(text),
                iso(WORKERS, seed),
                CLOCKS,
                compute=partial(seconds, PACES["random"](WORKERS, seed)),
            )
            jobs.append(budget.job(("staleness", self.variant, seed), run))
        return jobs

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge the largest number of missing clocks, and the longest delay."""
        runs = [found["staleness", self.variant, seed] for seed in budget.all_seeds]
        missing, delay = column(runs, "staleness"), column(runs, "delay")
        latest = (2 * self.claimed + 1) * (WORKERS - 1)
        reason = (
            f"most clocks missing in {missing.size} pulls; longest delay {delay.max()} of "
            f"{latest}; n = {WORKERS}, {budget.told(WORKERS + 1)}"
        )
        verdict = equal(self.subject, self.claimed, [int(missing.max())], reason)
        if delay.max() > latest:
            verdict = replace(verdict, outcome=Decision.FAILS)
        return verdict.drawn(
            Series(
                "What an answer misses",
                "clocks of the slowest worker, or pushes before one's own",
                "share of all",
                (shares("clocks missing", missing), shares("delay in pushes", delay)),
            )
        )


def column(runs: Sequence[Outcome], name: str) -> Ints:
    """Return what all servers wrote down."""
    found: Ints = np.concatenate(
        [run.services[:, FIELDS.index(name)] for run in runs if run.services is not None]
    )
    return found


def shares(label: str, numbers: Ints) -> Line:
    """Return how often each number comes."""
    counts = np.bincount(numbers)
    return line(label, range(len(counts)), counts / numbers.size)


@dataclass(frozen=True)
class ZeroStaleness:
    """The claim that two variants are one."""

    one: str = "ssp:0 / ps"
    other: str = "bsp / allreduce:naive"

    subject: ClassVar[Subject] = Subject("ssp:0 by servers is bsp, to the bit", "Ho et al. 2013")

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return two runs per seed."""
        return [
            budget.job(
                ("zero_staleness", text, seed),
                Run(
                    Variant.parse(f"{text} / identity / whole / sgd:0.1"),
                    iso(PEERS, seed),
                    CLOCKS,
                    every=4,
                ),
            )
            for text in (self.one, self.other)
            for seed in budget.all_seeds
        ]

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Count the runs whose curves are equal in all that is not about messages."""
        equals = 0
        for seed in budget.all_seeds:
            one, other = (found["zero_staleness", x, seed].curve for x in (self.one, self.other))
            equals += all(
                np.array_equal(one[name], other[name], equal_nan=True)
                for name in COLUMNS
                if name not in SENT
            )
        reason = (
            f"curves of {budget.seeds} that equal those of {self.other}; n = {PEERS}, "
            f"{budget.told(PEERS)}"
        )
        return equal(self.subject, budget.seeds, [equals], reason)


claims.register("staleness")(Staleness())
claims.register("staleness_zero")(ZeroStaleness())
