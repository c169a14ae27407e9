from __future__ import annotations

from math import nan

import numpy as np
import pytest

from bench.judge import Outcome, Subject, bound, equal, exponent, undecided

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
