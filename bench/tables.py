"""What a person reads at the end of a run; rank 0 alone imports this.

Numbers stand in columns; what is best is bold and starred, outcomes are coloured, and everything
that a colour says a word says too, for pipes. Under each variant stands its whole line, to be
pasted after --variant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite, isnan

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from bench.rows import Row
from bench.verdict import Outcome, Verdict, written

__all__ = ["listed", "number", "plain_table", "short", "variants_table", "verdicts_table"]

STYLES = {Outcome.HOLDS: "green", Outcome.FAILS: "bold red", Outcome.UNDECIDED: "yellow"}
WIDE = 92  # columns that give the columns of variants more air
HEAD = (
    *("\nvariant", "step\nsize ", "\n{f}", "\n95 %", "test\nacc.", "{B}\nsent ", "\n"),
    *("ms to\ntarget", "{B} to\ntarget", "clocks\nlate"),
)
LONGEST = 21  # letters of a variant's name; the whole line stands below


def number(value: float) -> str:
    """Return `value` with four digits, whole numbers in full, a dash for NaN."""
    if not isfinite(value):
        return "-" if isnan(value) else str(value)
    return f"{int(value):,}" if value == int(value) and abs(value) < 1e15 else f"{value:.4g}"


def short(value: float | None, unit: float = 1.0) -> str:
    """Return `value` in units of `unit` with three digits, a dash for what is not known."""
    if value is None or not isfinite(value):
        return "-"
    scaled = value / unit
    return f"{scaled:,.0f}" if scaled >= 99.95 else f"{scaled:.3g}"


def plain_table(*headers: str, narrow: bool = False) -> Table:
    """Return an empty table; all columns but the first hold numbers and never wrap."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    table.padding = (0, 0 if narrow else 1, 0, 0)
    for position, header in enumerate(headers):
        if position == 0:
            table.add_column(header, overflow="fold")  # names are to be typed: all letters stay
        else:
            table.add_column(header, justify="right", no_wrap=True)
    return table


def variants_table(rows: Sequence[Row], measure: str, width: int) -> Text:
    """Return the table of variants, two lines each.

    Parameters
    ----------
    rows : sequence of Row
        The variants of one problem.
    measure : str
        What the models are judged by: ``f - f*`` or ``f``.
    width : int
        Columns that there are; it fits into 80, with less air.
    """
    unit, word = (1e6, "MB") if max(row.first.sent for row in rows) >= 1e6 else (1e3, "kB")
    head = [title.format(f=measure, B=word) for title in HEAD]
    every = [_cells(row, unit) for row in rows]
    shown = [i for i in range(len(head)) if any(line[i] for line in every)]
    lines = [[line[i] for i in shown] for line in every]
    heads = [head[i].split("\n") for i in shown]
    gap = 2 if width >= WIDE else 1
    widths = [
        max(*map(len, title), *(len(line[column]) for line in lines))
        for column, title in enumerate(heads)
    ]
    text = Text()
    for level in (0, 1):
        text.append(f"{_joined([title[level] for title in heads], widths, gap)}\n", "bold")
    text.append("─" * (sum(widths) + gap * (len(widths) - 1)) + "\n")
    for row, line in zip(rows, lines, strict=True):
        text.append(f"{_joined(line, widths, gap)}\n", "bold" if row.best else "")
        text.append(f"    {_whole_line(row)}\n", "dim")
        if not row.exact:
            text.append("    the bytes differ from their formula\n", "bold red")
        if row.first.differs:
            text.append(f"    MPI and simulator differ in {row.first.differs}\n", "bold red")
    text.rstrip()
    return text


def _joined(cells: Sequence[str], widths: Sequence[int], gap: int) -> str:
    first, *others = zip(cells, widths, strict=True)
    parts = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
    return (" " * gap).join(parts).rstrip()


def _whole_line(row: Row) -> str:
    run = row.first.job.run
    servers = run.variant.architecture.servers
    return f"{run.variant}" + (f"   (n = {run.problem.workers})" if servers else "")


def _cells(row: Row, unit: float) -> list[str]:
    """Return the cells of one row; bytes in units of `unit`."""
    gap, took = row.gap, row.reached
    spread = (gap.high - gap.low) / 2 / gap.value if gap.value else 0.0
    late, name = row.staleness, row.entry.name
    name = name if len(name) <= LONGEST else f"{name[: LONGEST - 2]}.."
    return [
        f"{'*' if row.best else ' '} {name}",
        ("own" if row.gam is None else f"{row.gam:g}") + ("!" if row.edge else " "),
        _gap(row),
        f"±{spread:.0%}" if isfinite(gap.value) and len(row.outcomes) > 1 else "",
        f"{row.accuracy:.1%}" if isfinite(row.accuracy) else "",
        short(row.first.sent, unit) + ("^" if row.heavy else " "),
        "-" if row.formula is None else "=" if row.exact else "DIFFERS",
        short(took.seconds if took else None, 1e-3),
        short(took.bytes if took else None, unit),
        f"{late['mean']:.1f}/{late['max']}" if late else "",
    ]


def _gap(row: Row) -> str:
    value = row.gap.value
    if not isfinite(value):
        return "diverged"
    known = row.first.job.run.problem.constants.f_star is not None
    return f"{value:.2e}" if known else f"{value:.4f}"


def verdicts_table(verdicts: Sequence[Verdict]) -> Table:
    """Return the claims: the outcome, the sentence, the numbers, and what was measured."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    for verdict in verdicts:
        interval = f" [{number(verdict.low)}, {number(verdict.high)}]"
        if isnan(verdict.low) or verdict.low == verdict.high:
            interval = ""
        numbers = (
            f"predicted {written(verdict, number)}, measured {number(verdict.measured)}{interval}"
        )
        below = Text(f"{verdict.theorem}: {verdict.reason}", "dim")
        outcome = Text(verdict.outcome.value, STYLES[verdict.outcome])
        table.add_row(outcome, Group(Text(verdict.claim, "bold"), Text(numbers), below))
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
