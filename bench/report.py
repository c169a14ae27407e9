"""What rank 0 makes of all runs: predictions beside measurements, verdicts, tables, files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from rich.console import Console

from bench.claims import Budget, claims
from bench.claims.bytes_on_the_wire import agrees
from bench.cli import Options
from bench.files import write
from bench.grid import Row, Table, curve_of
from bench.jobs import Found, Job
from bench.judge import Outcome
from bench.predict import dense, per_clock
from bench.tables import Line, variants_table, verdicts_table
from bench.virtual import Timetable, timetable
from theory.cost import Evaluated

__all__ = ["Report"]


@dataclass(frozen=True)
class Prediction:
    """What is known of a variant without running it: cost of a clock, virtual seconds."""

    cost: Evaluated | None
    virtual: Timetable


class Report:
    """Everything about one bench.

    Parameters
    ----------
    options : Options
        The command line.
    table : Table
        What the variants were to do.
    found : Found
        Outcomes of all runs, claims included.
    budget : Budget
        What the claims were given.
    compute : float
        Virtual seconds of a gradient.
    """

    def __init__(
        self, options: Options, table: Table, found: Found, budget: Budget, compute: float
    ) -> None:
        self.options, self.table, self.found, self.compute = options, table, found, compute
        self.rows = table.rows(found)
        self.predictions = {row.entry: self._predict(row.outcome.job) for row in self.rows}
        self.lines = [self._line(row) for row in self.rows]
        self.verdicts = [claims[name].judge(found, budget) for name in claims]

    def _predict(self, job: Job) -> Prediction:
        virtual = timetable(job.run, self.options.network, self.compute)
        return Prediction(per_clock(job.run), virtual)

    def _line(self, row: Row) -> Line:
        known, job = self.predictions[row.entry], row.outcome.job
        cost = known.cost
        return Line(
            row,
            None if cost is None else Fraction(cost.bytes, job.size),
            cost is None or agrees(row.outcome, cost.messages, cost.bytes),
            float(known.virtual.at(np.array([job.run.clocks]))[0]),
            row.entry.compressed and row.measured > dense(job.run),
        )

    @property
    def code(self) -> int:
        """The exit code: 1 if a claim fails or a count differs from its formula."""
        failed = any(verdict.outcome is Outcome.FAILS for verdict in self.verdicts)
        return int(failed or not all(line.same for line in self.lines))

    def show(self, console: Console) -> None:
        """Print both tables, what their marks mean, and where the files are."""
        table, options = self.table, self.options
        asked = "" if table.steps == options.steps else f" (asked for {options.steps})"
        constants, grid = table.problem.constants, ", ".join(f"{gam:g}" for gam in table.grid)
        tried = "" if all(one.fixed for one in options.entries) else f"\nstep sizes tried: {grid}"
        console.print(
            f"\n{table.problem.name}: d = {table.problem.layout.size}, "
            f"n = {table.problem.workers}, "
            f"{table.steps} gradients per worker{asked}, seed {table.problem.seed}, "
            f"f* = {constants.f_star or 0.0:.6g}{tried}",
            markup=False,
        )
        console.print()
        console.print(variants_table(self.lines, options.network_name))
        console.print("\n".join(["", *self._notes(), ""]), markup=False)
        console.print(verdicts_table(self.verdicts))
        names = ", ".join(name for name, _ in self._files({}))
        where = "nothing was written; --out DIR writes"
        if options.out is not None:
            where = f"written to {options.out}:"
        console.print(f"\n{where} {names}", markup=False)

    def _notes(self) -> Iterator[str]:
        network = self.options.network
        yield "* lowest f(xbar) - f*, xbar the mean of all models"
        yield "bytes per worker and clock: handed to MPI, and by theory.cost and theory.wire"
        if any(line.heavy for line in self.lines):
            yield "^ more than an uncompressed all-reduce: payloads that do not add are gathered"
        if any(row.edge for row in self.rows):
            yield "! the best step size is at the edge of the grid: a better one may lie outside"
        yield (
            f"virtual seconds: {network.alpha:.3g} s a message, {network.beta:.3g} s a byte, "
            f"{self.compute:.2g} s a gradient "
            f"({'measured' if self.options.compute is None else 'given'})"
        )

    def save(self, machine: dict[str, Any]) -> None:
        """Write all files, if the command line names a folder."""
        if self.options.out is not None:
            for name, content in self._files(machine):
                write(self.options.out / name, content)

    def _files(self, machine: dict[str, Any]) -> list[tuple[str, Any]]:
        run = {
            "problem": self.table.problem.name,
            "steps": self.table.steps,
            "grid": self.table.grid,
            "seed": self.options.seed,
            "seeds": self.options.seeds,
            "network": {"name": self.options.network_name, **asdict(self.options.network)},
            "gradient_seconds": self.compute,
        }
        return [
            ("machine.json", machine | {"run": run}),
            ("curves.json", [self._curve(row, gam) for row, gam in self._all_runs()]),
            ("verdicts.json", [verdict.as_dict() for verdict in self.verdicts]),
        ]

    def _all_runs(self) -> Iterator[tuple[Row, float | None]]:
        for row in self.rows:
            for gam in row.entry.steps(self.table.grid):
                yield row, gam

    def _curve(self, row: Row, gam: float | None) -> dict[str, Any]:
        outcome = self.found["table", row.entry, gam]
        known, clocks = self.predictions[row.entry], outcome.curve["clock"]
        per_clock = None if known.cost is None else known.cost.bytes
        more: dict[str, list[Any]] = {
            "virtual_seconds": [float(second) for second in known.virtual.at(clocks)],
            "bytes_predicted": [per_clock and per_clock * float(clock) for clock in clocks],
        }
        return curve_of(outcome, gam == row.gam, more)
