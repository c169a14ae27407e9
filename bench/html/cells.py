"""The twelve cells: a table of the best of each, and loss against virtual time, by architecture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

import numpy as np

from bench.cells import WHEN, WHOM
from bench.html.curves import WHEN as COLOURS
from bench.html.markup import Markup, element, join
from bench.html.numbers import seconds, size
from bench.html.pictures import Axes, Stroke, panel
from bench.html.records import CellRecord
from bench.html.svg import legend

__all__ = ["panels", "section"]

ABOUT = (
    "Every synchronization on every architecture. A cell has the algorithm that reaches the target "
    "first, how long it takes in virtual time and what all ranks send till then; the least of the "
    "table is marked."
)


def section(cells: Sequence[CellRecord], draws: bool) -> Iterator[tuple[str, str, Markup]]:
    """Yield name, title and content of the section, if there are cells."""
    if cells:
        parts = [
            element("p", ABOUT, class_="about"),
            element("p", cells[0].setting, class_="about"),
            _table(cells),
        ]
        if draws:
            figures = (
                element(
                    "figure",
                    element("h4", title.capitalize()),
                    picture,
                    element("figcaption", legend(strokes)),
                )
                for title, picture, strokes in panels(cells)
            )
            parts.append(element("div", *figures, class_="pictures"))
        yield "cells", "Twelve cells", join(parts)


def _table(cells: Sequence[CellRecord]) -> Markup:
    best = {(one.synchronization, one.architecture): one for one in cells if one.best_of_cell}
    soonest = min((_or_inf(one.seconds_to_target) for one in best.values()), default=inf)
    fewest = min((_or_inf(one.bytes_to_target) for one in best.values()), default=inf)
    rows = []
    for when in WHEN.values():
        entries = [best.get((when, whom)) for whom in WHOM.values()]
        shown = (_cell(one, soonest, fewest) for one in entries)
        rows.append(element("tr", element("th", when, scope="row"), *shown))
    titles = (element("th", whom, scope="col") for whom in WHOM.values())
    head = element("thead", element("tr", element("td", ""), *titles))
    table = element("table", head, element("tbody", *rows), class_="cells")
    return element("div", table, class_="scroll", tabindex="0")


def _cell(one: CellRecord | None, soonest: float, fewest: float) -> Markup:
    if one is None:
        return element("td", element("small", "left out"))
    if one.seconds_to_target is None:
        return element("td", one.algorithm, element("small", one.outcome))
    words = []
    for text, is_least in (
        (seconds(one.seconds_to_target), one.seconds_to_target == soonest),
        (size(one.bytes_to_target), one.bytes_to_target == fewest),
    ):
        words.append(element("strong", f"{text} \u2605") if is_least else element("span", text))
    return element("td", one.algorithm, element("small", words[0], ", ", words[1]))


def _or_inf(value: float | None) -> float:
    return inf if value is None else value


def panels(cells: Sequence[CellRecord]) -> Iterator[tuple[str, Markup, list[Stroke]]]:
    """Yield for every architecture its name, the picture, and its lines."""
    colours = {name: COLOURS[when] for when, name in WHEN.items()}
    y_label = "loss" if cells[0].f_star is None else "f - f*"
    curves = {id(one): _curve(one) for one in cells}
    flat = np.concatenate([y for _, y in curves.values()])
    flat = flat[np.isfinite(flat) & (flat > 0)]
    start = max(float(y[0]) for _, y in curves.values())
    heights = (float(flat.min()) / 1.3, start * 1.3) if flat.size else None
    ends = [
        float(x[-1]) for one in cells if one.outcome != "diverged" for x in (curves[id(one)][0],)
    ]
    axes = Axes(
        "virtual time", y_label, False, heights is not None, "seconds",
        x_range=(0.0, float(np.quantile(ends, 0.75)) if ends else 1.0), y_range=heights,
    )  # fmt: skip
    for whom in WHOM.values():
        own = [one for one in cells if one.architecture == whom and one.outcome != "diverged"]
        ranked = sorted(own, key=lambda one: _or_inf(one.seconds_to_target))
        best = [one for one in ranked if one.best_of_cell]
        strokes = [
            Stroke("", *curves[id(one)], "muted", thin=True) for one in own if not one.best_of_cell
        ]
        strokes += [
            Stroke(
                f"{one.synchronization}: {one.algorithm}",
                *curves[id(one)],
                colours[one.synchronization],
                number=number,
            )
            for number, one in enumerate(best, 1)
        ]
        first = best[0].algorithm if best else "none"
        alt = f"{whom}: {y_label} against virtual time, first at the target: {first}"
        yield whom, panel(strokes, axes, alt), strokes


def _curve(one: CellRecord) -> tuple[np.ndarray, np.ndarray]:
    x = np.array(one.curve.seconds, dtype=np.float64)
    return x, np.array(one.curve.loss, dtype=np.float64) - (one.f_star or 0.0)
