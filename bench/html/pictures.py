"""Pictures, drawn by matplotlib, which is imported only then: lines on axes, and histograms.

Lines that matter carry a number; the words stand in a legend of HTML below, where they wrap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.html.markup import Markup
from bench.html.numbers import FORMATS
from bench.html.svg import embed, paint

__all__ = ["Axes", "DASHES", "Stroke", "bars", "can_draw", "panel"]

DASHES = ("", "5 2", "1.5 1.5", "6 1.5 1.5 1.5", "8 2 2 2", "2.5 1")
SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "mpiddl",
    "font.size": 8.0,
    "path.simplify_threshold": 0.2,
}
SMALL, TALL = 3.55, 2.45  # inches
BADGE = 9.5  # points between two numbers
TICKS = 5
BETWEEN = ((30.0, (1.0, 2.0, 5.0)), (3e3, (1.0, 3.0)))  # ticks where an axis spans less


@dataclass(frozen=True)
class Stroke:
    """A line of a picture; x, y, low, high are arrays (m,), colour is one of svg.COLOURS."""

    label: str
    x: Any
    y: Any
    colour: str
    low: Any = None
    high: Any = None
    dash: str = ""
    number: int | None = None
    thin: bool = False


@dataclass(frozen=True)
class Axes:
    """What the axes of a picture say; a unit is one of `numbers.FORMATS`; `whole`: no fractions."""

    x_label: str
    y_label: str
    log_x: bool = False
    log_y: bool = False
    x_unit: str = "plain"
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    whole: bool = False


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        return False
    return True


def _open(axes: Axes, width: float = SMALL, height: float = TALL) -> tuple[Any, Any]:
    """Return a figure and its only axes, bare but for two thin lines."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    place = figure.add_axes((0.135, 0.17, 0.805, 0.72))
    place.patch.set_visible(False)
    figure.patch.set_visible(False)
    for side, spine in place.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_edgecolor(paint("muted"))
        spine.set_linewidth(0.6)
    place.tick_params(color=paint("muted"), labelcolor=paint("muted"), width=0.6, length=2.5)
    place.grid(color=paint("rule"), linewidth=0.5)
    place.set_xlabel(axes.x_label, color=paint("ink"), labelpad=2)
    figure.text(0.01, 0.985, axes.y_label, color=paint("ink"), va="top")  # never cut off there
    if axes.log_x:
        place.set_xscale("log", nonpositive="mask")
    if axes.log_y:
        place.set_yscale("log", nonpositive="mask")
    return figure, place


def _tick(axis: Any, log: bool, unit: str, whole: bool) -> None:
    """Choose ticks for what `axis` shows now."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    if log:
        least, most = axis.get_view_interval()
        between = (subs for span, subs in BETWEEN if most < span * least)
        subs = next(between, (1.0,))
        axis.set_major_locator(LogLocator(subs=subs, numticks=TICKS))
        axis.set_minor_locator(NullLocator())
    else:
        axis.set_major_locator(MaxNLocator(TICKS, steps=(1, 2, 5, 10), integer=whole))
    axis.set_major_formatter(FuncFormatter(lambda value, _: FORMATS[unit](value)))


def _finish(figure: Any, place: Any, axes: Axes, alt: str) -> Markup:
    _tick(place.xaxis, axes.log_x, axes.x_unit, axes.whole)
    _tick(place.yaxis, axes.log_y, "plain", axes.whole)
    return embed(figure, alt)


def panel(strokes: Sequence[Stroke], axes: Axes, alt: str) -> Markup:
    """Return a picture of lines; `alt` says in words what is seen."""
    from matplotlib import rc_context

    with rc_context(SETTINGS):
        figure, place = _open(axes)
        if axes.x_range is not None:
            place.set_xlim(*axes.x_range)
        if axes.y_range is not None:
            place.set_ylim(*axes.y_range)
        floor = _floor(strokes, axes)
        for order, stroke in enumerate(strokes):
            _draw(place, stroke, order, floor)
        place.axis(place.axis())  # from here on nothing moves
        _number(place, [stroke for stroke in strokes if stroke.number is not None])
        return _finish(figure, place, axes, alt)


def _floor(strokes: Sequence[Stroke], axes: Axes) -> float:
    """Return where an interval ends that reaches below what the axis can show."""
    if axes.y_range is not None or not axes.log_y:
        return axes.y_range[0] if axes.y_range else -np.inf
    y = np.concatenate([np.asarray(stroke.y, dtype=np.float64) for stroke in strokes])
    return float(y[y > 0].min()) if (y > 0).any() else 1.0


def _draw(place: Any, stroke: Stroke, order: int, floor: float) -> None:
    colour, above = paint(stroke.colour), 2 + order / 100
    if stroke.low is not None and stroke.high is not None:
        low = np.maximum(stroke.low, floor)
        place.fill_between(
            stroke.x, low, stroke.high, color=colour, alpha=0.12, linewidth=0, zorder=1
        )
    dashes = [float(length) for length in stroke.dash.split()]
    few = len(stroke.x) <= 12 and not stroke.thin and not dashes
    place.plot(
        stroke.x,
        stroke.y,
        color=colour,
        linewidth=0.6 if stroke.thin else 1.5,
        alpha=0.65 if stroke.thin else 1,
        linestyle=(0, dashes) if dashes else "-",
        marker="o" if few else None,
        markersize=2.6,
        zorder=above,
    )


def _number(place: Any, strokes: Sequence[Stroke]) -> None:
    """Write each line's number beside its end, further up where two would meet."""
    (left, bottom), (right, top) = place.transAxes.transform([(0, 0), (1, 1)])
    spots = []
    for stroke in strokes:
        x, y = np.asarray(stroke.x), np.asarray(stroke.y)
        shown = np.flatnonzero(np.isfinite(place.transData.transform(np.c_[x, y])).all(axis=1))
        if shown.size:
            at = place.transData.transform((x[shown[-1]], y[shown[-1]]))
            spots.append((at, stroke))
    unit = place.figure.dpi / 72
    taken: list[tuple[Any, Any]] = []
    for (x, y), stroke in sorted(spots, key=lambda spot: float(spot[0][1])):
        x, y = min(max(x, left), right) + 7 * unit, min(max(y, bottom), top)
        for other_x, other_y in sorted(taken, key=lambda other: float(other[1])):
            if abs(x - other_x) < BADGE * unit and abs(y - other_y) < BADGE * unit:
                y = other_y + BADGE * unit
        taken.append((x, y))
        spot = place.transAxes.inverted().transform((x, y))
        plain: dict[str, Any] = {"transform": place.transAxes, "clip_on": False, "zorder": 5}
        place.plot(*spot, "o", color=paint(stroke.colour), markersize=8.5, mew=0, **plain)
        place.text(
            *spot, str(stroke.number), color=paint("paper"), fontsize=6.5, fontweight="bold",
            ha="center", va="center_baseline", **plain,
        )  # fmt: skip


def bars(values: Any, axes: Axes, alt: str, colour: str) -> Markup:
    """Return a histogram of whole numbers (m,) as shares in percent, their mean as a line."""
    from matplotlib import rc_context

    width = max(1, int(np.ceil((values.max() + 1) / 40)))
    edges = np.arange(0, values.max() + 1 + width, width) - 0.5
    shares, _ = np.histogram(values, edges)
    with rc_context(SETTINGS):
        figure, place = _open(axes, 2.7, 1.75)
        place.set_position((0.12, 0.235, 0.84, 0.61))
        middles = edges[:-1] + width / 2
        place.bar(middles, 100 * shares / len(values), width * 0.86, color=paint(colour))
        place.axvline(values.mean(), color=paint("ink"), linewidth=1, dashes=(2, 2))
        place.set_xlim(-0.6, max(float(values.max()), 4.0) + 0.6)
        place.set_axisbelow(True)
        place.grid(visible=False, axis="x")
        return _finish(figure, place, axes, alt)
