"""How claims are judged: by numbers with intervals, against what theory predicts.

HOLDS      the interval is narrow enough to tell, and the prediction is inside (or the bound above)
FAILS      the interval excludes the prediction
UNDECIDED  nothing can be said: too few ranks, too few seeds, an interval that is too wide

Rates are judged as rates, bounds as bounds, counts as counts: a run cannot pass a bound by a slope
or a slope by a bound. Intervals are those of `theory.statistics`; rank 0 alone judges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np

from bench.verdict import Outcome, Relation, Subject, Verdict, undecided, written

__all__ = ["Outcome", "Relation", "Subject", "Verdict", "alike", "attained", "bound", "equal"]
__all__ += ["exponent", "told_apart", "undecided", "worst", "written"]

FEWEST = 3  # seeds of which an interval can be made
WIDEST = 0.25  # half-width of an interval, for an exponent or a ratio, that still says something


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
    return _inside(subject, predicted, found, reason, Relation.SLOPE)


def _inside(
    subject: Subject, predicted: float, found: Any, reason: str, relation: Relation
) -> Verdict:
    """Judge whether the interval of `found` has the prediction inside and is not too wide."""
    inside = found.low <= predicted <= found.high
    outcome = Outcome.HOLDS if inside else Outcome.FAILS
    if inside and found.high - found.low > 2 * WIDEST:
        outcome, reason = Outcome.UNDECIDED, f"{reason}: the interval is too wide"
    numbers = predicted, found.value, found.low, found.high
    return Verdict(subject.claim, subject.theorem, *numbers, outcome, reason, relation)


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


def _ratio(subject: Subject, measured: Any, other: Any, reason: str, fewest: int = FEWEST) -> Any:
    """Return E measured / E other with its interval, or the verdict that there is none."""
    from theory.statistics import ratio

    found, seeds = ratio(measured, other), len(np.atleast_1d(measured))
    if seeds < fewest or not (found.value >= 0 and isfinite(found.value)):
        why = f"the ratio is {found.value:.3g}, from {seeds} seeds"
        return undecided(subject, f"{reason}: {why}", 1.0)
    return found


def bound(
    subject: Subject, measured: Any, limit: Any, reason: str, *, exact: bool = False
) -> Verdict:
    """Judge an upper bound: E measured / E limit should be at most 1.

    Parameters
    ----------
    subject : Subject
        What is judged.
    measured, limit : array-like (S,)
        The quantity and its bound, one per seed.
    reason : str
        What was measured, in words.
    exact : bool
        Whether there is no noise, so that one run says all.
    """
    found = _ratio(subject, measured, limit, reason, 1 if exact else FEWEST)
    if isinstance(found, Verdict):
        return replace(found, relation=Relation.AT_MOST)
    outcome = Outcome.UNDECIDED
    if found.high <= 1:
        outcome = Outcome.HOLDS
    elif found.low > 1:
        outcome = Outcome.FAILS
    numbers = 1.0, found.value, found.low, found.high
    return Verdict(subject.claim, subject.theorem, *numbers, outcome, reason, Relation.AT_MOST)


def attained(subject: Subject, measured: Any, value: Any, reason: str) -> Verdict:
    """Judge an equation of means: E measured / E value should be 1; both (S,), as in `bound`."""
    found = _ratio(subject, measured, value, reason)
    if isinstance(found, Verdict):
        return found
    return _inside(subject, 1.0, found, reason, Relation.EQUAL)


def alike(subject: Subject, measured: Any, other: Any, reason: str, tolerance: float) -> Verdict:
    """Judge that E measured / E other is 1 but for `tolerance`: the whole interval is that near."""
    found = _ratio(subject, measured, other, reason)
    if isinstance(found, Verdict):
        return found
    low, high = 1 - tolerance, 1 + tolerance
    outcome = Outcome.UNDECIDED
    if low <= found.low and found.high <= high:
        outcome = Outcome.HOLDS
    elif found.high < low or found.low > high:
        outcome = Outcome.FAILS
    numbers = 1.0, found.value, found.low, found.high
    return Verdict(subject.claim, subject.theorem, *numbers, outcome, reason)


def told_apart(kept: Verdict, broken: Verdict) -> Verdict:
    """Return `kept`, which holds only if `broken`, the same without what is claimed, fails."""
    outcome = kept.outcome
    if outcome is Outcome.HOLDS and broken.outcome is not Outcome.FAILS:
        outcome = Outcome.FAILS if broken.outcome is Outcome.HOLDS else broken.outcome
    return replace(kept, outcome=outcome)


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict on several that must all hold: one that fails, else an undecided one.

    Of those with the same outcome it is the one farthest from what is predicted, or, of bounds, the
    one nearest to its bound.
    """

    def order(verdict: Verdict) -> tuple[int, float]:
        above = float(np.nan_to_num(verdict.measured - verdict.predicted))
        bad = (Outcome.HOLDS, Outcome.UNDECIDED, Outcome.FAILS).index(verdict.outcome)
        return bad, above if verdict.relation is Relation.AT_MOST else abs(above)

    return max(verdicts, key=order)


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
