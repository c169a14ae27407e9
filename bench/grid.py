"""The table of variants: every variant with every step size, and of each the best run.

All variants make the same number of steps, with the same noise, from the same start, and choose
from the same grid. Where the best step size lies at the edge of the grid, a better one may lie
outside, and the row says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, lcm
from typing import TYPE_CHECKING, Any

from bench.jobs import Found, Job, Outcome
from bench.variants import Entry
from mpiddl.problems import Problem
from mpiddl.record import COLUMNS
from mpiddl.train import Run

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["Row", "Table", "round_up"]

SNAPSHOTS = 16


def round_up(steps: int, entries: Sequence[Entry]) -> int:
    """Return the least number of at least `steps` that every variant's period divides."""
    period = lcm(*(entry.variant(None if entry.fixed else 1.0).sync.period for entry in entries))
    return -(-steps // period) * period


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
    outcome : Outcome
        The run that was chosen.
    """

    entry: Entry
    gam: float | None
    edge: bool
    outcome: Outcome

    @property
    def suboptimality(self) -> float:
        """f(xbar) - f* at the end; inf if the run diverged; f itself if f* is unknown."""
        return suboptimality(self.outcome)

    @property
    def measured(self) -> Fraction:
        """Bytes per worker and clock."""
        job = self.outcome.job
        from fractions import Fraction  # rank 0 alone comes here

        return Fraction(self.outcome.sent, job.size * job.run.clocks)


def suboptimality(outcome: Outcome) -> float:
    """Return f(xbar) - f* at the end of a run, inf if it diverged."""
    value = float(outcome.curve["loss"][-1]) - (outcome.job.run.problem.constants.f_star or 0.0)
    return value if isfinite(value) and not outcome.diverged else inf


class Table:
    """The runs of a table of variants.

    Parameters
    ----------
    entries : sequence of Entry
        The variants.
    problem : Problem
        What is learnt.
    steps : int
        Gradients per worker and run, a multiple of every variant's period.
    grid : tuple of float
        Step sizes, increasing.
    """

    def __init__(
        self, entries: Sequence[Entry], problem: Problem, steps: int, grid: tuple[float, ...]
    ) -> None:
        self.entries, self.problem, self.steps, self.grid = entries, problem, steps, grid

    def jobs(self) -> list[Job]:
        """Return all runs."""
        return [
            Job(("table", entry, gam), self._run(entry, gam))
            for entry in self.entries
            for gam in entry.steps(self.grid)
        ]

    def _run(self, entry: Entry, gam: float | None) -> Run:
        variant = entry.variant(gam)
        clocks = self.steps // variant.sync.period
        return Run(variant, self.problem, clocks, every=max(1, clocks // SNAPSHOTS))

    def rows(self, found: Found) -> list[Row]:
        """Return the best run of each variant."""
        rows = []
        for entry in self.entries:
            runs = {gam: found["table", entry, gam] for gam in entry.steps(self.grid)}
            gam = min(runs, key=lambda gam: suboptimality(runs[gam]))
            edge = len(runs) > 1 and gam in (self.grid[0], self.grid[-1])
            rows.append(Row(entry, gam, edge, runs[gam]))
        return rows


def curve_of(outcome: Outcome, chosen: bool, more: dict[str, list[Any]]) -> dict[str, Any]:
    """Return one entry of curves.json: what was run, then the columns and `more` of them."""
    run = outcome.job.run
    head = {
        "variant": str(run.variant),
        "problem": run.problem.name,
        "n": run.problem.workers,
        "seed": run.problem.seed,
        "chosen": chosen,
        "diverged": outcome.diverged,
    }
    columns = outcome.curve.as_dict()
    return head | {name: columns[name] for name in COLUMNS} | more
