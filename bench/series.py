"""Pictures as data: lines with their points, small enough to be written beside a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["MOST", "Line", "Series", "line", "measured"]

MOST = 60  # points of a line


@dataclass(frozen=True)
class Line:
    """A line of a picture.

    Parameters
    ----------
    label : str
        What it is.
    x, y : tuple of float, (m,)
        Its points, at most `MOST`.
    kind : str
        "measured", "bound" (it must not be crossed) or "theory" (it must be met).
    low, high : tuple of float, (m,), or None
        The interval around `y`.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    kind: str = "measured"
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Series:
    """A picture: lines over one pair of axes."""

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    log_x: bool = False
    log_y: bool = False


def line(label: str, x: Any, y: Any, kind: str = "measured") -> Line:
    """Return a line through points x, y (m,), thinned out to `MOST`; a number y is level."""
    where = np.asarray(x, dtype=np.float64)
    keep = _kept(len(where))
    values = np.broadcast_to(np.asarray(y, dtype=np.float64), where.shape)
    return Line(label, _plain(where[keep]), _plain(values[keep]), kind)


def measured(label: str, x: Any, samples: Sequence[Any]) -> Line:
    """Return the mean of samples (S, m) over x (m,) with its interval, thinned out to `MOST`."""
    from theory.statistics import mean

    where, rows = np.asarray(x, dtype=np.float64), np.asarray(samples, dtype=np.float64)
    keep = _kept(len(where))
    found = [mean(column) for column in rows[:, keep].T]
    values, lows, highs = (
        tuple(getattr(one, part) for one in found) for part in ("value", "low", "high")
    )
    return Line(label, _plain(where[keep]), values, "measured", lows, highs)


def _kept(count: int) -> Any:
    """Return the indices of at most `MOST` points of `count`, with the first and the last."""
    return np.unique(np.linspace(0, count - 1, min(count, MOST)).round().astype(np.intp))


def _plain(values: Any) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
