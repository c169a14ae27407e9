"""Intervals cover what they claim, and slopes are found."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from theory.statistics import _student, exact_slope, mean, ratio, slope


@pytest.mark.parametrize("samples", [2, 3, 8, 20, 100])
@pytest.mark.parametrize("coverage", [0.9973, 0.95])
def test_quantiles_of_student(samples: int, coverage: float) -> None:
    assert _student(samples, coverage) == pytest.approx(
        stats.t.ppf((1 + coverage) / 2, samples - 1), rel=1e-10
    )


def test_coverage_of_an_attained_bound() -> None:
    """Where measured = bound on average, the lower limit stays below 1 as often as it claims."""
    rng = np.random.default_rng(0)
    tops, bottoms = rng.normal(1, 0.3, size=(2, 3000, 8))
    estimates = [ratio(top, bottom, 0.9) for top, bottom in zip(tops, bottoms, strict=True)]
    broken = np.mean([estimate.low > 1 for estimate in estimates])
    assert 0.02 < broken < 0.06
    assert np.mean([estimate.value > 1 for estimate in estimates]) > 0.4


def test_ratios_at_zero() -> None:
    assert ratio(np.zeros(3), 0.0).high == 0
    assert ratio(np.array([0.0, 1e-9]), 0.0).low == np.inf
    assert ratio(np.array([np.inf, 1.0]), 1.0).low == np.inf
    assert np.isnan(mean([np.nan, 1.0]).low)


def test_slopes() -> None:
    x = np.array([100, 200, 400, 800])
    noisy = 3 * x**-0.5 * np.exp(0.02 * np.random.default_rng(0).normal(size=(20, 4)))
    found = slope(x, noisy)
    assert found.low < -0.5 < found.high
    assert found.high - found.low < 0.05
    bent = exact_slope(x, 1 / x + 0.01)
    assert bent.low < bent.value < bent.high
    assert exact_slope(x, x**-1.0).value == pytest.approx(-1)
    with pytest.raises(ValueError, match="two points"):
        slope(x[:1], noisy[:, :1])
