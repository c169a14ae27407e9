"""Curves of a problem: one row of pictures per architecture, against clocks, bytes and time.

All pictures of a problem share their axes. Colour says when workers speak. In each row the best of
every kind, by clock and by words, is thick and numbered; the others are thin and grey.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

import numpy as np

from bench.html.markup import Markup, element, join
from bench.html.material import Bench
from bench.html.numbers import scientific
from bench.html.pictures import DASHES, Axes, Stroke, panel
from bench.html.records import CurveRecord, Row
from bench.html.svg import legend
from mpiddl.architecture import architectures
from mpiddl.architecture.neighbours import Neighbours
from mpiddl.architecture.pairwise import Pairwise
from mpiddl.architecture.served import Served
from mpiddl.arrays import Array
from theory.statistics import mean

__all__ = ["WHEN", "curves", "gap_name"]

WHEN = {"bsp": "blue", "local": "green", "ssp": "orange", "asp": "purple"}
ALSO_LOCAL = ("post_local", "growing")
MOST = 5  # numbered lines in a picture
COVERAGE = 0.95
ABSCISSAE = (
    ("clock", "clock", "plain"),
    ("bytes", "bytes sent, all ranks", "bytes"),
    ("seconds", "virtual time", "seconds"),
)


@dataclass(frozen=True)
class Trace:
    """A variant on a problem: abscissae by name, mean gap and its interval; arrays (m,)."""

    row: Row
    x: dict[str, Array]
    y: Array
    low: Array
    high: Array

    @property
    def kind(self) -> tuple[str, bool]:
        """When it speaks, and whether in plain words."""
        when = self.row.when.partition(":")[0]
        return "local" if when in ALSO_LOCAL else when, self.row.words == "identity"

    @property
    def family(self) -> str:
        """With whom it speaks: one of three kinds, or what the file says, if that is none here."""
        name = self.row.with_whom.partition(":")[0]
        if name not in architectures:
            return name
        kind = architectures[name]
        if issubclass(kind, Served):
            return "Parameter server"
        return "Gossip" if issubclass(kind, Neighbours | Pairwise) else "All-reduce"


def gap_name(bench: Bench, problem: str) -> str:
    """Return what is measured on `problem`: the loss itself where its minimum is unknown."""
    return "loss" if bench.facts(problem).f_star is None else "f - f*"


def curves(bench: Bench, problem: str) -> Markup:
    """Return the pictures of `problem`."""
    f_star = bench.facts(problem).f_star
    traces = list(_traces(bench, problem, f_star))
    if not traces:
        return element("p", "No curves were written for this problem.", class_="note")
    y_label = gap_name(bench, problem)
    spans = {name: _span([trace.x[name] for trace in traces]) for name, *_ in ABSCISSAE}
    rows: defaultdict[str, list[Trace]] = defaultdict(list)
    for trace in traces:
        rows[trace.family].append(trace)
    heights = _heights(traces)
    return join(_row(problem, title, own, spans, heights, y_label) for title, own in rows.items())


def _traces(bench: Bench, problem: str, f_star: float | None) -> Iterator[Trace]:
    """Find the runs of every row, those of the simulator if there are any."""
    found: defaultdict[tuple[str, str], list[CurveRecord]] = defaultdict(list)
    for record in bench.curves:
        if record.problem == problem and record.chosen and record.clock:
            found[record.name, record.world].append(record)
    for row in bench.rows:
        if row.problem == problem:
            runs = found[row.name, "simulator"] or found[row.name, "mpi"]
            if runs:
                yield _trace(row, runs, f_star or 0.0)


def _trace(row: Row, runs: Sequence[CurveRecord], f_star: float) -> Trace:
    many = min(len(run.clock) for run in runs)
    table = {
        name: np.array([getattr(run, name)[:many] for run in runs], dtype=np.float64)
        for name in ("clock", "bytes", "seconds", "loss")
    }
    estimates = [mean(column - f_star, COVERAGE) for column in table.pop("loss").T]
    y, low, high = (
        np.array([getattr(estimate, name) for estimate in estimates])
        for name in ("value", "low", "high")
    )
    return Trace(row, {name: values.mean(axis=0) for name, values in table.items()}, y, low, high)


def _span(values: Sequence[Array]) -> tuple[float, float]:
    """Return where an axis begins and ends; for bytes and seconds, at the first above 0."""
    flat = np.concatenate(values)
    flat = flat[np.isfinite(flat) & (flat > 0)]
    return (float(flat.min()), float(flat.max())) if flat.size else (0.5, 1.0)


def _heights(traces: Sequence[Trace]) -> tuple[float, float] | None:
    """Return the common y range: from below the least gap to above the start."""
    flat = np.concatenate([trace.y for trace in traces])
    positive = flat[np.isfinite(flat) & (flat > 0)]
    starts = [trace.y[0] for trace in traces if isfinite(trace.y[0]) and trace.y[0] > 0]
    if not positive.size or not starts:
        return None
    return float(positive.min()) / 1.6, max(starts) * 1.6


def _row(
    problem: str,
    title: str,
    traces: Sequence[Trace],
    spans: dict[str, tuple[float, float]],
    heights: tuple[float, float] | None,
    y_label: str,
) -> Markup:
    """Return a row of pictures, one per abscissa, and the legend of all of them."""
    chosen = _choose(traces)
    colours = {id(trace): WHEN.get(trace.kind[0], "red") for trace in chosen}
    pictures: list[Markup] = []
    strokes: list[Stroke] = []
    for name, label, unit in ABSCISSAE:
        log = name != "clock"
        least, most = spans[name]
        span = (least / 1.15, most * 1.3) if log else (0.0, most)
        axes = Axes(label, y_label, log, heights is not None, unit, x_range=span, y_range=heights)
        strokes, used = [], defaultdict[str, int](int)
        rest = [trace for trace in traces if id(trace) not in colours]
        strokes += [Stroke("", trace.x[name], trace.y, "muted", thin=True) for trace in rest]
        for number, trace in enumerate(chosen, 1):
            colour = colours[id(trace)]
            dash, used[colour] = DASHES[used[colour] % len(DASHES)], used[colour] + 1
            words = f"{trace.row.name}: {scientific(trace.row.gap)}"
            low, high = (trace.low, trace.high) if len(trace.y) else (None, None)
            strokes.append(Stroke(words, trace.x[name], trace.y, colour, low, high, dash, number))
        alt = f"{problem}, {title}: {y_label} against {label}; best: {strokes[-1].label}"
        pictures.append(element("div", panel(strokes, axes, alt)))
    others = len(traces) - len(chosen)
    more = [f"grey: {others} more"] if others else []
    return element(
        "figure",
        element("h4", title),
        element("div", *pictures, class_="pictures"),
        element("figcaption", legend(strokes, *more)),
    )


def _choose(traces: Sequence[Trace]) -> list[Trace]:
    """Return the lines that get numbers, best first: the best of each kind, then the next best."""
    ranked = sorted(traces, key=lambda trace: inf if trace.row.gap is None else trace.row.gap)
    firsts: dict[Any, Trace] = {}
    for trace in ranked:
        firsts.setdefault(trace.kind, trace)
    best = {id(trace) for trace in list(firsts.values())[:MOST]}
    others = (id(trace) for trace in ranked if id(trace) not in best)
    best.update(list(others)[: MOST - len(best)])
    return [trace for trace in ranked if id(trace) in best]
