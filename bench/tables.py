"""What a person reads at the end of a run; rank 0 alone imports this.

Numbers stand in columns; what is best is bold and starred, outcomes are coloured, and everything
that a colour says a word says too, for pipes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite

from rich import box
from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bench.grid import Row
from bench.judge import Outcome, Verdict

__all__ = ["Line", "exact", "listed", "number", "plain_table", "variants_table", "verdicts_table"]

STYLES = {Outcome.HOLDS: "green", Outcome.FAILS: "bold red", Outcome.UNDECIDED: "yellow"}


@dataclass(frozen=True)
class Line:
    """A row of the table of variants and what is not in it.

    Parameters
    ----------
    row : Row
        The variant at its best step size.
    predicted : Fraction or None
        Bytes per worker and clock by the formula; None if there is none.
    same : bool
        Whether every snapshot counts what the formula says.
    virtual : float
        Virtual seconds of the whole run; NaN if unknown.
    heavy : bool
        Whether it is compressed and still sends more than an uncompressed all-reduce.
    """

    row: Row
    predicted: Fraction | None
    same: bool
    virtual: float
    heavy: bool


def exact(value: Fraction) -> str:
    """Return a rational number exactly: as a decimal if it ends within three places."""
    if (value * 1000).denominator == 1:
        return f"{float(value):,.3f}".rstrip("0").rstrip(".")
    return f"{value.numerator:,}/{value.denominator:,}"


def number(value: float) -> str:
    """Return `value` with four digits, whole numbers in full, a dash for NaN."""
    if not isfinite(value):
        return "-" if value != value else str(value)
    return f"{int(value):,}" if value == int(value) and abs(value) < 1e15 else f"{value:.4g}"


def plain_table(*headers: str, narrow: bool = False) -> Table:
    """Return an empty table; all columns but the first hold numbers and never wrap."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    table.padding = (0, 0 if narrow else 1, 0, 0)
    for position, header in enumerate(headers):
        text = position == 0
        table.add_column(header, justify="left" if text else "right", no_wrap=not text)
    return table


def variants_table(lines: Sequence[Line], network: str) -> Table:
    """Return the table of variants; the best is the lowest f(xbar) - f*."""
    table = plain_table(
        "\nvariant",
        "step\nsize",
        "\nf(xbar)-f*",
        "bytes\nsent",
        "bytes\nformula",
        "\nclocks",
        "wall\nseconds",
        f"{network}\nseconds",
    )
    best = min(line.row.suboptimality for line in lines)
    for line in lines:
        row, first = line.row, line.row.suboptimality == best < inf
        formula = Text("-" if line.predicted is None else exact(line.predicted))
        if not line.same:
            formula = Text(f"{formula} DIFFERS", "bold red")
        table.add_row(
            Text(f"{'*' if first else ' '} {row.entry.label}"),
            ("" if row.gam is None else f"{row.gam:g}") + ("!" if row.edge else " "),
            f"{row.suboptimality:.2e}" if isfinite(row.suboptimality) else "diverged",
            exact(row.measured) + ("^" if line.heavy else " "),
            formula,
            str(row.outcome.job.run.clocks),
            f"{row.outcome.curve['seconds'][-1]:.2f}",
            f"{line.virtual:.2e}" if isfinite(line.virtual) else "-",
            style="bold" if first else None,
        )
    return table


def verdicts_table(verdicts: Sequence[Verdict]) -> Table:
    """Return the table of claims: the sentence, below it the theorem and what was measured."""
    table = plain_table("claim", "predicted", "measured", "interval", "verdict")
    for verdict in verdicts:
        below = Padding(Text(f"{verdict.theorem}: {verdict.reason}", "dim"), (0, 0, 0, 2))
        interval = f"[{number(verdict.low)}, {number(verdict.high)}]"
        if verdict.low == verdict.high:
            interval = "exact"
        table.add_row(
            Group(Text(verdict.claim), below),
            number(verdict.predicted),
            number(verdict.measured),
            Text("-" if verdict.low != verdict.low else interval),
            Text(verdict.outcome.value, STYLES[verdict.outcome]),
        )
    return table


def listed(sections: Mapping[str, Iterable[tuple[str, str]]]) -> Group:
    """Return lists of names with their meaning, section by section."""
    parts: list[Table | Text] = []
    for title, entries in sections.items():
        table = Table(
            box=None, pad_edge=False, padding=(0, 2), show_header=False, title_justify="left"
        )
        table.title = Text(title, "bold")
        for name, meaning in entries:
            table.add_row(Text(f"  {name}"), Text(meaning))
        parts += [table, Text()]
    return Group(*parts)
