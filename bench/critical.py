"""Maps of critical parameters: how far one may go before an error is raised by a quarter.

A map has a point for each number of workers and each noise. At a point one error is measured for
growing values of one parameter, H or s, and the same is predicted: its critical value is the
largest up to which the error is at most 1 + `SHARE` times that of the first value. What a bound
promises must not cost more when it is measured; what is known exactly must be met, to a step of
the grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bench.judge import Outcome, Subject, Verdict, equal
from bench.series import Line

__all__ = ["SHARE", "Point", "judged", "lines"]

SHARE = 0.25


@dataclass(frozen=True)
class Point:
    """One point of a map: what was measured and predicted for all values of the parameter.

    Parameters
    ----------
    n : int
        Number of workers.
    values : tuple of int, (m,)
        Of the parameter, increasing.
    errors : array-like (S, m)
        What was measured, one row per seed; inf where a run diverged.
    bound : sequence of float, (m,)
        The bound, inf where it does not apply.
    exact : sequence of float, (m,), or None
        The error, where it is known.
    """

    n: int
    values: tuple[int, ...]
    errors: Any
    bound: Sequence[float]
    exact: Sequence[float] | None = None

    def costs(self) -> list[Any]:
        """Return by value the error over that of the first value, with its interval."""
        from theory.statistics import ratio

        rows = np.asarray(self.errors, dtype=np.float64)
        return [ratio(column, rows[:, 0]) for column in rows.T]

    def critical(self, costs: Sequence[float]) -> int:
        """Return the place of the largest value up to which no cost is above 1 + SHARE."""
        above = [place for place, cost in enumerate(costs) if not cost <= 1 + SHARE]
        return min(above, default=len(costs)) - 1

    def predicted(self, errors: Sequence[float]) -> int:
        """Return the place of the critical value of what is predicted."""
        return self.critical([error / errors[0] for error in errors])

    def measured(self) -> tuple[int, int, int]:
        """Return the place of the critical value that was measured, and its interval."""
        costs = self.costs()
        value, low, high = (
            self.critical([getattr(cost, part) for cost in costs])
            for part in ("value", "high", "low")
        )
        return value, low, high

    @property
    def promise(self) -> Outcome:
        """Whether what the bound promises to be cheap is cheap."""
        cost = self.costs()[self.predicted(self.bound)]
        if cost.high <= 1 + SHARE:
            return Outcome.HOLDS
        return Outcome.FAILS if cost.low > 1 + SHARE else Outcome.UNDECIDED

    @property
    def met(self) -> Outcome:
        """Whether the critical value is the one that is known, to a step of the grid."""
        if self.exact is None:
            return Outcome.HOLDS
        known, (_, low, high) = self.predicted(self.exact), self.measured()
        if known - 1 <= low and high <= known + 1:
            return Outcome.HOLDS
        apart = high < known - 1 or low > known + 1
        return Outcome.FAILS if apart else Outcome.UNDECIDED


def judged(subject: Subject, points: Sequence[Point], reason: str) -> Verdict:
    """Count the points that are as predicted: one that is not fails, else an undecided one counts.

    Intervals need seeds: one row of errors leaves everything undecided.
    """
    found = [(point.promise, point.met) for point in points]
    right = sum(set(pair) == {Outcome.HOLDS} for pair in found)
    verdict = equal(subject, len(points), [right], reason)
    if any(Outcome.FAILS in pair for pair in found):
        return verdict
    few = any(len(point.errors) < 2 for point in points)
    sure = right == len(points) and not few
    return replace(verdict, outcome=Outcome.HOLDS if sure else Outcome.UNDECIDED)


def lines(points: Sequence[Point], label: str = "") -> list[Line]:
    """Return critical values over n: measured with their interval, exact if known, promised."""
    x = tuple(float(point.n) for point in points)
    value, low, high = (
        tuple(float(point.values[point.measured()[part]]) for point in points) for part in range(3)
    )
    found = [Line(f"measured{label}", x, value, "measured", low, high)]
    for name, kind, side in (("exact", "theory", "exact"), ("bound", "bound", "bound")):
        known = [getattr(point, side) for point in points]
        if None not in known:
            places = [point.predicted(one) for point, one in zip(points, known, strict=True)]
            y = tuple(float(point.values[at]) for point, at in zip(points, places, strict=True))
            found.append(Line(f"{name}{label}", x, y, kind))
    return found
