"""What is known of a variant at its best step size: a row of the table, for eyes and for files.

Rank 0 alone imports this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite, nan
from typing import Any

import numpy as np

from bench.claims.bytes_on_the_wire import agrees
from bench.grid import Choice, Table, gap
from bench.jobs import Found, Outcome, stale
from bench.predict import dense, per_clock
from bench.targets import Reached, Target, agreed_target, reached
from bench.variants import Entry
from mpiddl.ledger import FIELDS
from theory.cost import Evaluated
from theory.statistics import Estimate, mean

__all__ = ["Row", "rows"]

COVERAGE = 0.95


@dataclass(frozen=True)
class Row:
    """One variant at its best step size.

    Parameters
    ----------
    entry : Entry
        The variant.
    gam : float or None
        The chosen step size; None if the line has its own.
    edge : bool
        Whether `gam` is the first or last of the grid.
    outcomes : sequence of Outcome
        One per seed; the first was run under MPI too.
    target : Target or None
        What is to be reached.
    best : bool
        Whether no other row of the table has a lower mean f - f*.
    """

    entry: Entry
    gam: float | None
    edge: bool
    outcomes: Sequence[Outcome]
    target: Target | None
    best: bool = False

    @property
    def first(self) -> Outcome:
        """The run that was made under MPI too."""
        return self.outcomes[0]

    @cached_property
    def gap(self) -> Estimate:
        """f(xbar) - f* at the end, with its interval over seeds; inf if a run diverged."""
        gaps = [gap(outcome) for outcome in self.outcomes]
        return mean(gaps, COVERAGE) if all(map(isfinite, gaps)) else Estimate(inf, inf, inf)

    @property
    def accuracy(self) -> float:
        """Share of held-out samples that the model gets right at the end; nan without any."""
        return float(np.mean([outcome.curve["accuracy"][-1] for outcome in self.outcomes]))

    @cached_property
    def formula(self) -> Evaluated | None:
        """Messages and bytes of one clock by the formulas, or None."""
        return per_clock(self.first.job.run)

    @property
    def exact(self) -> bool:
        """Whether every run sent what the formula says; True where there is none."""
        cost = self.formula
        return cost is None or all(agrees(one, cost.messages, cost.bytes) for one in self.outcomes)

    @property
    def heavy(self) -> bool:
        """Whether it is compressed and still sends more than an uncompressed all-reduce."""
        run = self.first.job.run
        per_worker = self.first.sent / (run.problem.workers * run.clocks)
        return self.entry.compressed and per_worker > dense(run)

    @cached_property
    def reached(self) -> Reached | None:
        """What it takes to reach the target, or None."""
        return reached(self.outcomes, self.target)

    @property
    def staleness(self) -> Mapping[str, float] | None:
        """Clocks of the slowest worker missing in what workers were told, under MPI."""
        services = self.first.services
        if services is None or not stale(self.first.job.run):
            return None
        missing = services[:, FIELDS.index("staleness")]
        missing = missing[missing >= 0]  # where something was read
        return {"mean": float(missing.mean()), "max": int(missing.max())} if missing.size else None

    def as_dict(self) -> dict[str, Any]:
        """Return the row of table.json."""
        run, first = self.first.job.run, self.first
        variant, real = run.variant, first.real or first.curve
        took = self.reached or Reached(nan, nan)
        return {
            "problem": run.problem.name,
            "name": self.entry.name,
            "variant": str(variant),
            "when": str(variant.sync),
            "with_whom": str(variant.architecture),
            "words": str(variant.channel),
            "step_size": self.gam,
            "edge": self.edge,
            "n": run.problem.workers,
            "servers": variant.architecture.servers,
            "clocks": run.clocks,
            "gap": self.gap.value,
            "gap_low": self.gap.low,
            "gap_high": self.gap.high,
            "accuracy": self.accuracy,
            "bytes_per_clock": first.sent / run.clocks,
            "bytes_formula": self.formula and self.formula.bytes,
            "total_bytes": first.sent,
            "messages": int(real["messages"][-1]),
            "wall_seconds": float(real["seconds"][-1]),
            "virtual_seconds": float(first.curve["seconds"][-1]),
            "target": self.target and self.target.value,
            "seconds_to_target": took.seconds,
            "bytes_to_target": took.bytes,
            "repeatable": not stale(run),
            "staleness": self.staleness,
            "same": first.same,
            "best": self.best,
        }


def rows(table: Table, choice: Choice, found: Found, given: float | None) -> list[Row]:
    """Return the rows of `table`; `given` is the target asked for, or None."""
    runs = {
        entry: [found[table.key(entry, choice[entry], seed)] for seed in table.seeds]
        for entry in table.entries
    }
    target = agreed_target(given, runs)
    made = []
    for entry, outcomes in runs.items():
        tried, gam = entry.steps(table.grid), choice[entry]
        edge = len(tried) > 1 and gam in (tried[0], tried[-1])
        made.append(Row(entry, gam, edge, outcomes, target))
    best = min((row.gap.value for row in made), default=inf)
    return [
        Row(row.entry, row.gam, row.edge, row.outcomes, target, row.gap.value == best < inf)
        for row in made
    ]
