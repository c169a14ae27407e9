"""What rank 0 makes of all runs: predictions beside measurements, verdicts, tables, files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rich.console import Console

from bench.cells.results import Results
from bench.cells.runs import Cells
from bench.cells.runs import Choice as Chosen
from bench.cells.table import show
from bench.claims import Budget, verdicts
from bench.grid import Choice, Table
from bench.jobs import Found
from bench.networks import Preset
from bench.options import Options
from bench.rows import Row, rows
from bench.saved import contents
from bench.tables import variants_table, verdicts_table
from bench.variants import SEEDS, Entry
from bench.verdict import Outcome, Verdict

__all__ = ["Made", "Report"]


@dataclass(frozen=True)
class Made:
    """What all ranks have made together.

    Parameters
    ----------
    tables : sequence of Table
        What the variants were to do.
    choices : sequence of Choice
        Of each table, the chosen step sizes.
    left_out : sequence of (Entry, str)
        Variants that could not be run here, and why.
    budget : Budget
        What the claims were given.
    found : Found
        Outcomes of all runs, claims included.
    seconds : mapping
        Wall seconds of every stage.
    cells : (Cells, Choice) or None
        The twelve cells, and what was chosen of them; None: they were not run.
    """

    tables: Sequence[Table]
    choices: Sequence[Choice]
    left_out: Sequence[tuple[Entry, str]]
    budget: Budget
    found: Found
    seconds: Mapping[str, float]
    cells: tuple[Cells, Chosen] | None = None


class Report:
    """Everything about one bench.

    Parameters
    ----------
    options : Options
        The command line.
    made : Made
        What there is to report.
    network : Preset
        The network of virtual time.
    """

    def __init__(self, options: Options, made: Made, network: Preset) -> None:
        self.options, self.made, self.network = options, made, network
        self.tables: dict[str, tuple[Table, list[Row]]] = {
            table.name: (table, rows(table, choice, made.found, options.target))
            for table, choice in zip(made.tables, made.choices, strict=True)
        }
        self.cells = made.cells and Results(*made.cells, made.found, network.name)
        self.verdicts: list[Verdict] = list(verdicts(options.claimed, made.found, made.budget))

    @cached_property
    def rows(self) -> list[Row]:
        """The rows of all tables."""
        return [row for _, own in self.tables.values() for row in own]

    @property
    def code(self) -> int:
        """The exit code: 1 if a claim fails, a count is not its formula or two worlds differ."""
        failed = any(verdict.outcome is Outcome.FAILS for verdict in self.verdicts)
        differ = any(outcome.same is False for outcome in self.made.found.values())
        return int(failed or differ or not all(row.exact for row in self.rows))

    def show(self, console: Console) -> None:
        """Print all tables, what their marks mean, and where the files are."""
        for table, own in self.tables.values():
            console.print("\n".join(["", *self._about(table, own), ""]), markup=False)
            unknown = table.problem().constants.f_star is None
            table_ = variants_table(own, "f" if unknown else "f - f*", console.width)
            console.print(table_, soft_wrap=True)
        console.print("\n".join(["", *self._notes()]), markup=False)
        if self.cells is not None:
            show(console, self.cells)
        if self.verdicts:
            console.print()
            console.print(verdicts_table(self.verdicts))
        where = "nothing was written; --out DIR writes JSON and a page, report.html"
        if self.options.out is not None:
            where = f"written to {self.options.out}: JSON, and report.html"
        console.print(f"\n{where}", markup=False, soft_wrap=True)

    def _about(self, table: Table, own: Sequence[Row]) -> Iterator[str]:
        """Yield what a reader of one table must know."""
        learnt, asked = table.problem(), self.options.steps
        f_star = learnt.constants.f_star
        known = "" if f_star is None else f", f* = {f_star:.6g}"
        rounded = f" (asked for {asked})" if asked not in (None, table.steps) else ""
        yield (
            f"{table.name}: d = {learnt.layout.size}, n = {learnt.workers}{known}, "
            f"{table.steps} gradients per worker{rounded}"
        )
        if not all(entry.fixed for entry in table.entries):
            grid = ", ".join(f"{gam:g}" for gam in table.grid)
            yield f"step sizes tried with seed {table.terms.seed}: {grid}"
        target = own[0].target if own else None
        if target is not None:
            yield f"target: {target.value:.3g}, {target.meaning}"
        seconds = f"{table.terms.compute:.1g} s"
        yield f"a gradient takes {seconds}{' (measured)' if self.options.compute is None else ''}"

    def _notes(self) -> Iterator[str]:
        """Yield what marks and columns mean, and what is not there."""
        cost, first = self.network.network, self.options.seed
        last = first + SEEDS[self.options.quick] - 1
        yield "* the best mean over the seeds, of the mean of all models or the servers' model"
        yield f"95 %: interval over seeds {first} to {last}; seed {first} ran under MPI too"
        yield "= bytes of every snapshot are those of theory.cost and theory.wire"
        if any(row.formula is None for row in self.rows):
            yield "- no formula: what is sent depends on who is there, or on the numbers"
        if any(row.gam is None for row in self.rows):
            yield "own: the step size that the line names"
        if any(row.heavy for row in self.rows):
            yield "^ more than an uncompressed all-reduce: payloads that do not add are gathered"
        if any(row.edge for row in self.rows):
            yield "! the best step size is at the edge of the grid: a better one may lie outside"
        if any(row.staleness for row in self.rows):
            yield "late: clocks of the slowest worker that a pull missed under MPI, mean/most"
            yield "      by chance: under MPI they do not repeat; replay DIR makes them again"
        yield (
            f"ms: virtual, on {self.network.name}: {cost.alpha:.3g} s a message, "
            f"{cost.beta:.3g} s a byte"
        )
        for reason in dict.fromkeys(reason for _, reason in self.made.left_out):
            names = ", ".join(entry.name for entry, why in self.made.left_out if why == reason)
            yield f"left out: {names}: {reason}"

    def save(self, machine: Mapping[str, Any]) -> None:
        """Write all files, if the command line names a folder."""
        if self.options.out is None:
            return
        from bench.cells.files import save as save_cells
        from bench.files import write
        from bench.html import write_report

        made, out = self.made, self.options.out
        (out / "replays").mkdir(exist_ok=True)
        for old in (out / "replays").glob("*.json"):
            old.unlink()
        told = {**machine, "stages": dict(made.seconds)}
        for name, content in contents(
            self.options, told, self.network, self.tables, self.verdicts, made.found
        ):
            write(out / name, content)
        (out / "cells.json").unlink(missing_ok=True)
        if self.cells is not None:
            save_cells(out, self.cells.contents())
        write_report(out)
