"""Means, ratios and slopes with confidence intervals: what may be said from a few seeds.

A bound is tested as a bound: it is broken only when the lower confidence limit of measured /
bound is above 1. Sharp bounds are attained, so half of all point estimates lie above 1. Limits
are those of Student's t at the coverage of three standard errors of a normal variable.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import mpmath
import numpy as np

from theory.testbed import Floats

__all__ = ["COVERAGE", "Estimate", "exact_slope", "mean", "ratio", "slope"]

COVERAGE = 0.9973  # of three standard errors, two-sided


@dataclass(frozen=True)
class Estimate:
    """A number with the interval it lies in."""

    value: float
    low: float
    high: float


@cache
def _student(samples: int, coverage: float) -> float:
    """Return the two-sided quantile of Student's t with samples - 1 degrees of freedom."""
    df = samples - 1

    def outside(log_t: Any) -> Any:
        inside = df / (df + mpmath.exp(2 * log_t))
        return mpmath.betainc(df / 2, 0.5, 0, inside, regularized=True) - (1 - coverage)

    return float(mpmath.exp(mpmath.findroot(outside, (-5, 10), solver="bisect", tol=1e-20)))


def mean(samples: Any, coverage: float = COVERAGE) -> Estimate:
    """Estimate a mean from independent samples (S,); one sample is taken as exact."""
    x = np.asarray(samples, dtype=np.float64)
    value = float(x.mean())
    if x.size == 1 or not np.isfinite(value):
        return Estimate(value, value, value)
    half = _student(x.size, coverage) * float(x.std(ddof=1)) / np.sqrt(x.size)
    return Estimate(value, value - half, value + half)


def ratio(above: Any, below: Any, coverage: float = COVERAGE) -> Estimate:
    """Estimate E above / E below from paired samples (S,).

    The interval is that of the mean of above - value * below (delta method). 0 / 0 is 0: a bound
    of zero is kept by zero. x / 0 is infinite: nothing but zero keeps it.
    """
    top = np.asarray(above, dtype=np.float64)
    bottom = np.broadcast_to(np.asarray(below, dtype=np.float64), top.shape)
    scale = float(bottom.mean())
    if scale == 0:
        value = 0.0 if not np.any(top) else float("inf")
        return Estimate(value, value, value)
    value = float(top.mean()) / scale
    if not np.isfinite(value):
        return Estimate(value, value, value)
    spread = mean((top - value * bottom) / scale, coverage)
    return Estimate(value, value + spread.low, value + spread.high)


def _fit(x: Floats, y: Floats) -> Floats:
    """Return least-squares slopes of rows y (..., m) over x (m,), m >= 2."""
    if len(x) < 2:
        raise ValueError("a slope needs two points")
    centred = x - x.mean()
    slopes: Floats = (y @ centred) / (centred @ centred)
    return slopes


def slope(x: Any, samples: Any, resamples: int = 1000, coverage: float = 0.95) -> Estimate:
    """Fit the slope of log E samples over log x; the interval is a bootstrap over seeds.

    Parameters
    ----------
    x : (m,)
        Abscissae, positive.
    samples : (S, m)
        Independent rows (seeds), positive means.
    resamples : int
        Bootstrap draws of S rows with replacement.
    coverage : float
        Of the percentile interval.
    """
    where, rows = np.log(np.asarray(x, dtype=np.float64)), np.asarray(samples, dtype=np.float64)
    value = float(_fit(where, np.log(rows.mean(axis=0))))
    picks = np.random.default_rng(0).integers(len(rows), size=(resamples, len(rows)))
    drawn = _fit(where, np.log(rows[picks].mean(axis=1)))
    low, high = np.quantile(drawn, [(1 - coverage) / 2, (1 + coverage) / 2])
    return Estimate(value, float(low), float(high))


def exact_slope(x: Any, values: Any) -> Estimate:
    """Fit the slope of log values over log x, both (m,), where values carry no noise.

    There is nothing to resample: the interval spans the slopes between neighbouring points, so it
    shows how far the curve is from a power law.
    """
    where = np.log(np.asarray(x, dtype=np.float64))
    logs = np.log(np.asarray(values, dtype=np.float64))
    local = np.diff(logs) / np.diff(where)
    return Estimate(float(_fit(where, logs)), float(local.min()), float(local.max()))
