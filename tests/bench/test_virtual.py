from __future__ import annotations

from bench.virtual import gradient_seconds
from mpiddl.problems import problem


def test_a_gradient_takes_time_which_is_told_to_one_digit():
    seconds = gradient_seconds(problem("breast_cancer", 2, 0))
    assert 0 < seconds < 1
    assert seconds == float(f"{seconds:.0e}")
