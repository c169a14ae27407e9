from __future__ import annotations

from math import nan

import numpy as np
import pytest

from bench.judge import (
    Outcome,
    Subject,
    alike,
    attained,
    bound,
    equal,
    exponent,
    told_apart,
    undecided,
    worst,
    written,
)
from bench.series import MOST, line, measured

SUBJECT = Subject("a claim", "a theorem")
X = [1.0, 2.0, 4.0, 8.0]


def power_law(slope: float, noise: float, seeds: int = 8) -> np.ndarray:
    rng = np.random.default_rng(3)
    return np.array(X) ** slope * (1 + noise * rng.uniform(-1, 1, (seeds, len(X))))


@pytest.mark.parametrize(
    ("slope", "noise", "predicted", "outcome"),
    [
        (-1.0, 0.05, -1.0, Outcome.HOLDS),
        (-1.0, 0.05, -0.5, Outcome.FAILS),
        (0.0, 0.05, -1.0, Outcome.FAILS),
        (-1.0, 0.99, -1.0, Outcome.UNDECIDED),  # the interval is too wide to tell
    ],
)
def test_a_slope_is_judged_by_its_interval(slope, noise, predicted, outcome):
    verdict = exponent(SUBJECT, X, power_law(slope, noise), predicted, "")
    assert verdict.outcome is outcome
    assert verdict.low <= verdict.measured <= verdict.high


def test_an_interval_of_eight_seeds_nearly_always_holds_the_truth():
    rng, missed = np.random.default_rng(0), 0
    for _ in range(300):
        rows = rng.chisquare(20, (8, 3)) / np.array([1.0, 2.0, 4.0])
        missed += exponent(SUBJECT, X[:3], rows, -1.0, "").outcome is Outcome.FAILS
    assert missed <= 3  # of 300, at a coverage of 0.9973


@pytest.mark.parametrize("rows", [power_law(-1, 0.1, 2), -power_law(-1, 0.1), [[nan] * 4] * 5])
def test_too_few_seeds_or_numbers_without_logarithm_give_no_slope(rows):
    assert exponent(SUBJECT, X, rows, -1.0, "").outcome is Outcome.UNDECIDED


@pytest.mark.parametrize(
    ("measured", "outcome"),
    [
        ([0.5, 0.6, 0.55, 0.5], Outcome.HOLDS),
        ([1.5, 1.6, 1.55, 1.5], Outcome.FAILS),
        ([0.5, 1.6, 0.4, 1.5], Outcome.UNDECIDED),
        ([0.5, 0.5], Outcome.UNDECIDED),  # two seeds make no interval
        ([nan, 0.5, 0.5], Outcome.UNDECIDED),
    ],
)
def test_a_bound_fails_only_when_the_whole_interval_is_above_it(measured, outcome):
    assert bound(SUBJECT, measured, [1.0] * len(measured), "").outcome is outcome


@pytest.mark.parametrize(
    ("measured", "outcome"),
    [
        ([2.0, 2.0], Outcome.HOLDS),
        ([2.0, 2.1], Outcome.FAILS),
        ([nan], Outcome.FAILS),
        ([], Outcome.UNDECIDED),
    ],
)
def test_an_equation_holds_for_all_numbers_or_fails(measured, outcome):
    assert equal(SUBJECT, 2.0, measured, "").outcome is outcome


def test_a_tolerance_is_met_at_its_edge_and_not_beyond():
    assert equal(SUBJECT, 1.0, [1.5], "", tolerance=0.5).outcome is Outcome.HOLDS
    assert equal(SUBJECT, 1.0, [1.51], "", tolerance=0.5).outcome is Outcome.FAILS


def test_what_is_undecided_says_why_and_keeps_the_claim():
    told = undecided(SUBJECT, "too few ranks").as_dict()
    assert (told["claim"], told["theorem"]) == ("a claim", "a theorem")
    assert (told["outcome"], told["reason"]) == ("UNDECIDED", "too few ranks")


@pytest.mark.parametrize(
    ("measured", "outcome"),
    [
        ([0.98, 1.01, 1.02, 0.99], Outcome.HOLDS),
        ([0.5, 0.52, 0.51, 0.5], Outcome.FAILS),  # a bound is kept, an equation is not
        ([1.5, 1.52, 1.51, 1.5], Outcome.FAILS),
        ([0.2, 1.8, 0.4, 1.6], Outcome.UNDECIDED),
        ([1.0, 1.0], Outcome.UNDECIDED),
    ],
)
def test_an_equation_of_means_is_judged_by_its_interval(measured, outcome):
    assert attained(SUBJECT, measured, [1.0] * len(measured), "").outcome is outcome


@pytest.mark.parametrize(
    ("measured", "outcome"),
    [
        ([1.04, 1.05, 1.06, 1.05], Outcome.HOLDS),
        ([1.2, 1.21, 1.2, 1.21], Outcome.FAILS),
        ([1.05, 1.12, 1.08, 1.1], Outcome.UNDECIDED),  # near the edge: more seeds are needed
    ],
)
def test_what_is_alike_is_so_with_its_whole_interval(measured, outcome):
    assert alike(SUBJECT, measured, [1.0] * 4, "", tolerance=0.1).outcome is outcome


def test_without_noise_one_run_says_all():
    assert bound(SUBJECT, [0.5], [1.0], "").outcome is Outcome.UNDECIDED
    assert bound(SUBJECT, [0.5], [1.0], "", exact=True).outcome is Outcome.HOLDS
    assert bound(SUBJECT, [1.5], [1.0], "", exact=True).outcome is Outcome.FAILS


@pytest.mark.parametrize(
    ("without", "outcome"),
    [
        ([2.0, 2.1, 2.0], Outcome.HOLDS),
        ([0.5, 0.5, 0.5], Outcome.FAILS),  # it makes no difference
        ([0.5, 2.0, 0.5], Outcome.UNDECIDED),
    ],
)
def test_a_bound_that_is_kept_without_what_is_claimed_proves_nothing(without, outcome):
    kept, other = (bound(SUBJECT, some, [1.0] * 3, "") for some in ([0.5, 0.51, 0.5], without))
    assert told_apart(kept, other).outcome is outcome


def test_of_several_verdicts_the_worst_is_told():
    near, far, wrong = (equal(SUBJECT, 1.0, [x], "", 0.5) for x in (1.1, 0.6, 1.6))
    low, high = (bound(SUBJECT, [x] * 3, [1.0] * 3, "") for x in (0.1, 0.9))
    nothing = undecided(SUBJECT, "", 1.0)
    assert worst([near, far]) is far
    assert worst([high, low]) is high  # of bounds the one that is nearly broken
    assert worst([nothing, far]) is nothing
    assert worst([wrong, nothing, far]) is wrong


@pytest.mark.parametrize(
    ("verdict", "text"),
    [
        (equal(SUBJECT, 1024.0, [1024.0], ""), "1024"),
        (bound(SUBJECT, [0.5] * 3, [1.0] * 3, ""), "<= 1"),
        (exponent(SUBJECT, X, power_law(-0.5, 0.05), -0.5, ""), "slope -0.5"),
        (undecided(SUBJECT, ""), "nan"),
    ],
)
def test_a_prediction_says_what_is_predicted(verdict, text):
    assert written(verdict, "{:g}".format) == text


def test_pictures_are_thinned_out_but_keep_their_ends():
    long = line("a line", range(1000), np.arange(1000.0))
    assert len(long.x) == len(long.y) == MOST
    assert (long.x[0], long.x[-1]) == (0, 999)
    level = line("a bound", range(5), 2.0, "bound")
    assert level.y == (2.0,) * 5
    mean = measured("curves", range(3), [[1.0, 2, 3], [3, 2, 1], [2, 2, 2]])
    assert mean.y == pytest.approx((2.0, 2.0, 2.0))
    assert mean.low is not None
    assert mean.low[1] == mean.high[1] == 2.0
