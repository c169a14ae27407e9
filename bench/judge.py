"""Verdicts: a number that theory predicts, the interval in which the measured one lies, an outcome.

HOLDS      the interval is narrow enough to tell, and the prediction is inside (or the bound above)
FAILS      the interval excludes the prediction
UNDECIDED  nothing can be said: too few ranks, too few seeds, an interval that is too wide

Rates are judged as rates, bounds as bounds, counts as counts: a run cannot pass a bound by a slope
or a slope by a bound. Intervals are those of `theory.statistics`; rank 0 alone judges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from math import isfinite, nan
from typing import Any

import numpy as np

__all__ = ["Outcome", "Subject", "Verdict", "bound", "equal", "exponent", "undecided"]

FEWEST = 3  # seeds of which an interval can be made
WIDEST = 0.25  # half-width of an interval for an exponent that still says something


class Outcome(Enum):
    """What became of a claim."""

    HOLDS = "HOLDS"
    FAILS = "FAILS"
    UNDECIDED = "UNDECIDED"


@dataclass(frozen=True)
class Subject:
    """What is judged: a sentence that can be doubted, and the theorem or formula behind it."""

    claim: str
    theorem: str


@dataclass(frozen=True)
class Verdict:
    """A judged claim: predicted and measured number, interval [low, high], outcome, reason."""

    claim: str
    theorem: str
    predicted: float
    measured: float
    low: float
    high: float
    outcome: Outcome
    reason: str

    def as_dict(self) -> dict[str, Any]:
        """Return the fields by name, ready for JSON."""
        return asdict(self) | {"outcome": self.outcome.value}


def undecided(subject: Subject, reason: str, predicted: float = nan) -> Verdict:
    """Return the verdict that nothing can be said, and why."""
    return Verdict(
        subject.claim, subject.theorem, predicted, nan, nan, nan, Outcome.UNDECIDED, reason
    )


def exponent(
    subject: Subject, x: Sequence[float], samples: Any, predicted: float, reason: str
) -> Verdict:
    """Judge a power law: `predicted` should be the slope of log E samples over log x.

    Parameters
    ----------
    subject : Subject
        What is judged.
    x : sequence of float, (m,)
        Abscissae, positive.
    samples : array-like (S, m)
        One row per seed.
    predicted : float
        The exponent.
    reason : str
        What was measured, in words.
    """
    from theory.statistics import mean

    rows = np.asarray(samples, dtype=np.float64)
    if len(rows) < FEWEST or not (np.isfinite(rows).all() and (rows > 0).all()):
        return undecided(subject, f"{reason}: no slope from {len(rows)} usable seeds", predicted)
    found = mean(_pseudo_slopes(np.log(x), rows))
    inside = found.low <= predicted <= found.high
    outcome = Outcome.HOLDS if inside else Outcome.FAILS
    if inside and found.high - found.low > 2 * WIDEST:
        outcome, reason = Outcome.UNDECIDED, f"{reason}: the interval is too wide"
    return Verdict(
        subject.claim,
        subject.theorem,
        predicted,
        found.value,
        found.low,
        found.high,
        outcome,
        reason,
    )


def _pseudo_slopes(logs: Any, rows: Any) -> list[float]:
    """Return the jackknife's pseudo-values (S,) of the slope of log E rows over `logs` (m,).

    Their mean is the slope and their spread its error, to which Student's t applies; resampled
    percentiles of a handful of seeds are too narrow.
    """
    slope, seeds = _slope(logs, rows), len(rows)
    without = [_slope(logs, np.delete(rows, seed, axis=0)) for seed in range(seeds)]
    return [seeds * slope - (seeds - 1) * other for other in without]


def _slope(logs: Any, rows: Any) -> float:
    centred = logs - logs.mean()
    return float(centred @ np.log(rows.mean(axis=0)) / (centred @ centred))


def bound(subject: Subject, measured: Any, limit: Any, reason: str) -> Verdict:
    """Judge an upper bound: E measured / limit should be at most 1.

    Parameters
    ----------
    subject : Subject
        What is judged.
    measured, limit : array-like (S,)
        The quantity and its bound, one per seed.
    reason : str
        What was measured, in words.
    """
    from theory.statistics import ratio

    found, seeds = ratio(measured, limit), len(np.atleast_1d(measured))
    if seeds < FEWEST or not (found.value >= 0 and isfinite(found.value)):
        why = f"the ratio is {found.value:.3g}, from {seeds} seeds"
        return undecided(subject, f"{reason}: {why}", 1.0)
    outcome = Outcome.UNDECIDED
    if found.high <= 1:
        outcome = Outcome.HOLDS
    elif found.low > 1:
        outcome = Outcome.FAILS
    return Verdict(
        subject.claim, subject.theorem, 1.0, found.value, found.low, found.high, outcome, reason
    )


def equal(
    subject: Subject,
    predicted: float,
    measured: Sequence[float],
    reason: str,
    tolerance: float = 0.0,
) -> Verdict:
    """Judge an equation without noise: all measured numbers should lie within `tolerance` of it.

    The interval is that of the measured numbers; with none of them nothing can be said.
    """
    if not measured:
        return undecided(subject, f"{reason}: nothing was measured", predicted)
    low, high = min(measured), max(measured)
    worst = max(measured, key=lambda number: abs(number - predicted))
    agrees = all(abs(number - predicted) <= tolerance for number in measured)  # NaN does not
    outcome = Outcome.HOLDS if agrees else Outcome.FAILS
    return Verdict(
        subject.claim, subject.theorem, predicted, float(worst), low, high, outcome, reason
    )
