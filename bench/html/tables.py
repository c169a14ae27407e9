"""Tables of the page: variants of a problem, and verdicts. What a colour says, a word says too."""

from __future__ import annotations

from collections.abc import Sequence

from bench.html.markup import Markup, Piece, element
from bench.html.numbers import DASH, interval, plain, scientific, seconds, size
from bench.html.records import Row, VerdictRecord

__all__ = ["badge", "scrolling", "variants", "verdicts"]

COLUMNS = (
    ("variant", "when / with whom / in what words / in what order, if not as a whole"),
    ("workers", "workers, and servers besides them"),
    ("step", "step size, chosen from the grid; ! at its edge"),
    ("gap", "f - f* at the mean of the models or on the servers: mean, 95 % interval over seeds"),
    ("accuracy", "share of held-out samples that are right"),
    ("bytes", "sent by all ranks in the whole run"),
    ("bytes a clock", "sent by all ranks per clock, and whether the formula of theory says so"),
    ("clocks", "agreements in the whole run"),
    ("virtual time", "of the whole run, on the network"),
    ("time to target", "virtual time until the gap is below the target"),
    ("bytes to target", "sent by all ranks until then"),
    ("staleness", "clocks of the slowest worker missing in a pull: mean, greatest"),
    ("MPI as simulator", "whether the run under MPI has the same curve to the bit"),
)
OUTCOMES = {"HOLDS": "✓", "FAILS": "✗", "UNDECIDED": "?"}


def scrolling(table: Markup, label: str) -> Markup:
    """Return `table` in a box of its own, which scrolls where the page is too narrow."""
    return element("div", table, class_="scroll", tabindex=0, role="region", aria_label=label)


def badge(outcome: str) -> Markup:
    """Return an outcome as a coloured word."""
    sign = OUTCOMES.get(outcome, "")
    return element("span", f"{sign} {outcome}", class_=f"badge {outcome.lower()}")


def _mark(right: bool | None, yes: str, no: str) -> Markup:
    if right is None:
        return Markup(DASH)
    sign, word = ("✓", yes) if right else ("✗", no)
    style = "right" if right else "wrong"
    return element("span", f"{sign} ", element("span", word), class_=style)


def _small(text: str) -> Markup | None:
    return element("small", text) if text else None


def variants(rows: Sequence[Row], problem: str, gap: str) -> Markup:
    """Return the table of the variants of one problem; `gap` is what is measured."""
    heads = (
        element("th", gap if name == "gap" else name, scope="col", title=meaning)
        for name, meaning in COLUMNS
    )
    body = (
        element(
            "tr", _name(row), *(element("td", *cell) for cell in _cells(row)), class_=_style(row)
        )
        for row in rows
    )
    table = element(
        "table",
        element("caption", f"Variants on {problem}", class_="unseen"),
        element("thead", element("tr", *heads)),
        element("tbody", *body),
        class_="variants",
    )
    return scrolling(table, f"table of variants on {problem}")


def _style(row: Row) -> str | None:
    return "best" if row.best else None


def _name(row: Row) -> Markup:
    star = element("span", "★ ", element("span", "best", class_="unseen"), class_="star")
    order = row.variant.split(" / ")[3:4]  # in what order; as a rule in one piece
    parts = (row.when, row.with_whom, row.words, *(part for part in order if part != "whole"))
    rooms = " / ".join(part for part in parts if part)
    said = row.name.count("/") > 0  # the label is the line itself
    return element(
        "th",
        star if row.best else None,
        row.name,
        None if said else element("small", rooms),
        scope="row",
        title=row.variant,
    )


def _cells(row: Row) -> list[list[Piece]]:
    formula: Piece = "no formula"
    if row.bytes_formula is not None and row.bytes_per_clock is not None:
        right = row.bytes_formula == row.bytes_per_clock
        formula = _mark(right, "= formula", f"formula: {plain(row.bytes_formula)}")
    gap: list[Piece] = [element("span", "diverged", class_="wrong")]
    if row.gap is not None:
        gap = [scientific(row.gap), _small(interval(row.gap_low, row.gap_high, scientific))]
    never = None if row.target is None else "never"
    stale = row.staleness or {}
    return [
        [f"{row.n} + {row.servers}" if row.servers else str(row.n)],
        [plain(row.step_size, 3), " !" if row.edge else None],
        gap,
        [DASH if row.accuracy is None else f"{100 * row.accuracy:.1f} %"],
        [size(row.total_bytes)],
        [plain(row.bytes_per_clock), element("small", formula)],
        [plain(row.clocks)],
        [seconds(row.virtual_seconds)],
        [seconds(row.seconds_to_target) if row.seconds_to_target is not None else never or DASH],
        [size(row.bytes_to_target) if row.bytes_to_target is not None else never or DASH],
        [f"{plain(stale.get('mean'), 2)}, {plain(stale.get('max'))}" if stale else DASH],
        [_mark(row.same, "same", "differs")],
    ]


def verdicts(records: Sequence[VerdictRecord]) -> Markup:
    """Return the table of all claims."""
    names = ("verdict", "claim", "predicted", "measured", "interval", "how")
    heads = (element("th", name, scope="col") for name in names)
    body = (
        element(
            "tr",
            element("td", badge(one.outcome)),
            element("th", one.claim, element("small", one.theorem), scope="row"),
            element("td", _predicted(one), class_="number"),
            element("td", plain(one.measured), class_="number"),
            element("td", interval(one.low, one.high, plain) or _exact(one), class_="number"),
            element("td", one.reason),
        )
        for one in records
    )
    table = element(
        "table",
        element("caption", "Claims and their verdicts", class_="unseen"),
        element("thead", element("tr", *heads)),
        element("tbody", *body),
        class_="verdicts",
    )
    return scrolling(table, "table of verdicts")


def _predicted(one: VerdictRecord) -> str:
    relation = {"=": "", "<=": "≤ "}.get(one.relation, f"{one.relation} ")
    return DASH if one.predicted is None else relation + plain(one.predicted)


def _exact(one: VerdictRecord) -> Markup:
    return Markup("exact" if one.low is not None and one.low == one.high else DASH)
