"""The twelve cells as a table for eyes; rank 0 alone imports this."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench.cells import WHEN, WHOM
from bench.cells.results import Result, Results
from bench.html.numbers import seconds, size

__all__ = ["show"]


def show(console: Console, results: Results) -> None:
    """Print the table of the cells, and that of all algorithms."""
    console.print(f"\n{results.setting}\n", markup=False)
    console.print(_cells(results))
    console.print("* the least of the table; time is virtual, bytes are those of all ranks\n")
    console.print(_algorithms(results))
    console.print(
        "* the one that is shown for its cell; time and bytes are till the target is first met,"
    )
    console.print("f - f* is that of the end")
    for one, why in results.cells.left_out.items():
        console.print(f"left out: {one.name}: {why}", markup=False)


def _cells(results: Results) -> Table:
    """Return a row per synchronization and a column per architecture.

    Each cell has its best algorithm, how long that took and what it sent; * marks the fewest
    seconds and the fewest bytes of the table.
    """
    best = results.best
    there = [result.took for result in best.values() if result.took]
    soonest = min((took.seconds for took in there), default=0.0)
    fewest = min((took.bytes for took in there), default=0.0)
    table = Table(box=None, pad_edge=False, padding=(0, 3, 1, 0))
    for name in ("", *WHOM.values()):
        table.add_column(name)
    for when, name in WHEN.items():
        cells = [_shown(best.get((when, whom)), soonest, fewest) for whom in WHOM]
        table.add_row(Text(name, style="bold"), *cells)
    return table


def _shown(result: Result | None, soonest: float, fewest: float) -> Text:
    """Return what a cell says."""
    if result is None:
        return Text("left out", style="dim")
    text, took = Text(result.algorithm.name), result.took
    if took is None:
        return text.append(f"\n{result.outcome}", style="dim")
    for words, is_least in (
        (seconds(took.seconds), took.seconds == soonest),
        (size(took.bytes), took.bytes == fewest),
    ):
        text.append(f"\n{words}{' *' * is_least}", style="bold green" if is_least else "")
    return text


def _algorithms(results: Results) -> Table:
    """Return a row per algorithm, cell by cell, with its step size and its f - f* at the end."""
    best = {id(result) for result in results.best.values()}
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for name in ("", "algorithm", "variant"):
        table.add_column(name)
    for name in ("time", "bytes", "f - f*"):
        table.add_column(name, justify="right")
    for result in results.all:
        took = result.took
        table.add_row(
            "*" if id(result) in best else "",
            result.algorithm.name,
            str(result.algorithm.entry.variant(result.gam)).replace(" / identity / whole", ""),
            seconds(took.seconds) if took else result.outcome,
            size(took.bytes) if took else "",
            "" if result.outcome == "diverged" else f"{result.gap:.2e}",
        )
    return table
