from __future__ import annotations

from math import inf, nan

import pytest
from rich.console import Console

from bench.tables import number, short, verdicts_table
from bench.verdict import Outcome, Verdict


def test_numbers_are_short_and_nan_is_a_dash():
    assert [number(x) for x in (1.0, -0.98765, nan, inf, 1e-20)] == [
        *("1", "-0.9877", "-", "inf", "1e-20"),
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0123456, "0.0123"),
        (1.0, "1"),
        (99.9, "99.9"),
        (99.96, "100"),
        (12345.6, "12,346"),
        (None, "-"),
        (nan, "-"),
    ],
)
def test_three_digits_are_shown_and_no_exponents_of_large_numbers(value, text):
    assert short(value) == text


def test_units_divide():
    assert short(0.0123, 1e-3) == "12.3"


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("outcome", Outcome)
def test_a_verdict_says_its_outcome_in_words(outcome, width):
    verdict = Verdict("a [claim]", "a theorem", 1.0, 0.5, 0.4, 0.6, outcome, "a reason " * 20)
    console = Console(width=width, file=open("/dev/null", "w"), record=True)
    console.print(verdicts_table([verdict]))
    text = console.export_text()
    for part in ("a [claim]", "a theorem: a reason", "[0.4, 0.6]", outcome.value):
        assert part in text
    assert max(map(len, text.splitlines())) <= width
