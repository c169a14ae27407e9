"""Limits are judged, and the best of several attempts counts."""

from __future__ import annotations

import pytest

from bench.speed.measure import Measure, best, of_repetitions
from bench.speed.simulator import LEAST, messages


def test_median_and_quartiles():
    measure = of_repetitions("it", "x", [5.0, 1.0, 2.0, 4.0, 3.0], 3.0)
    assert (measure.low, measure.median, measure.high) == (2.0, 3.0, 4.0)
    assert measure.holds


@pytest.mark.parametrize(
    ("limit", "at_least", "holds"),
    [
        (None, False, True),
        (1.0, False, True),
        (0.9, False, False),
        (0.9, True, True),
        (1.1, True, False),
    ],
)
def test_a_limit_is_for_the_median(limit, at_least, holds):
    assert Measure("it", "x", 1.0, 0.0, 9.0, limit, at_least).holds is holds


def test_the_best_attempt_counts_row_by_row():
    attempts = [
        [of_repetitions("a", "x", [a], 1.1), of_repetitions("b", "/s", [b], 5.0, at_least=True)]
        for a, b in ((1.0, 4.0), (2.0, 6.0), (1.5, 5.0))
    ]
    assert [one.median for one in best(attempts)] == [1.0, 6.0]
    assert all(one.holds for one in best(attempts))
    assert not all(one.holds for one in best(attempts[:1]))
    assert best([[], []]) == []


def test_the_simulator_is_fast_enough_with_room_to_spare():
    measure = messages()
    assert measure.limit == LEAST
    assert measure.holds
