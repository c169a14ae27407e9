"""Pictures of claims, bounds drawn over what was measured, and of staleness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from bench.html.markup import Markup, element
from bench.html.numbers import plain
from bench.html.pictures import DASHES, Axes, Stroke, bars, panel
from bench.html.records import Line, Replay, Series, VerdictRecord
from bench.html.svg import legend
from bench.html.tables import badge

__all__ = ["claims", "staleness"]

MEASURED = ("blue", "green", "purple", "orange")
MANY = 8  # lines that can all have numbers
AGES = (
    ("staleness", "staleness: clocks missing in a pull", "orange"),
    ("delay", "delay: pushes between pull and push", "purple"),
)


def claims(records: Sequence[VerdictRecord]) -> Markup:
    """Return one picture per series of each verdict."""
    figures = [_figure(verdict, one) for verdict in records for one in verdict.series]
    return element("div", *figures, class_="pictures")


def _figure(verdict: VerdictRecord, series: Series) -> Markup:
    strokes = _strokes(series.lines)
    axes = Axes(series.x_label, series.y_label, series.log_x, series.log_y)
    alt = f"{series.title}: {', '.join(stroke.label for stroke in strokes)}; {verdict.outcome}"
    return element(
        "figure",
        element("h4", series.title, " ", badge(verdict.outcome), element("small", verdict.claim)),
        panel(strokes, axes, alt),
        element("figcaption", legend(strokes)),
    )


def _strokes(lines: Sequence[Line]) -> list[Stroke]:
    """Return what to draw: all lines numbered, but of many only those that were measured."""
    seen: Counter[str] = Counter()
    strokes, many = list[Stroke](), len(lines) > MANY
    for line in lines:
        at, measured = seen[line.kind], line.kind == "measured"
        seen[line.kind] += 1
        number = at + 1 if many else sum(seen.values())
        colour, dash = _look(line.kind, at if measured or not many else 0)
        x, y, low, high = (
            None if column is None else np.array(column, dtype=np.float64)
            for column in (line.x, line.y, line.low, line.high)
        )
        plain = measured or line.kind in line.label
        words = line.label if plain else f"{line.label} ({line.kind})"
        shown = number if measured or not many else None
        strokes.append(Stroke(words, x, y, colour, low, high, dash, shown))
    return strokes


def _look(kind: str, at: int) -> tuple[str, str]:
    """Return colour and dashes of the line `at` of its kind: measured, bound or theory."""
    if kind == "measured":
        return MEASURED[at % len(MEASURED)], DASHES[at // len(MEASURED) % len(DASHES)]
    colour, first = ("red", 0) if kind == "bound" else ("ink", 1)
    return colour, DASHES[1 + (at + first) % (len(DASHES) - 1)]


def staleness(replays: Sequence[Replay]) -> Markup:
    """Return two histograms per asynchronous run."""
    return element("div", *map(_ages, replays), class_="pairs")


def _ages(replay: Replay) -> Markup:
    pictures, words = [], []
    for column, label, colour in AGES:
        ages = replay.column(column)
        if not ages.size:
            continue
        said = f"{column}: mean {plain(float(ages.mean()), 3)}, greatest {plain(float(ages.max()))}"
        words.append(said)
        alt = f"{replay.variant} on {replay.problem}, {said}"
        pictures.append(bars(ages, Axes(label, "share, %", whole=True), alt, colour))
    return element(
        "figure", element("h4", replay.variant), element("div", *pictures, class_="pair"),
        element("figcaption", "; ".join(words) or "nothing was served"),
    )  # fmt: skip
