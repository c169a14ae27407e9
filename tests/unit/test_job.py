"""A run as data: what is refused before it begins, and what ranks must agree on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mpiddl.errors import ConfigurationError
from mpiddl.problems import problem
from mpiddl.train import Run
from mpiddl.variant import Variant

JOB = Run(
    Variant.parse("bsp / allreduce / identity / whole / sgd:0.1"), problem("iso", 2), clocks=2
)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"clocks": 0}, "clocks = 0"),
        ({"clocks": 2.0}, "clocks = 2.0: must be a whole number"),
        ({"clocks": "2"}, "clocks = '2'"),
        ({"every": 0}, "every = 0"),
        ({"every": 1.5}, "every = 1.5"),
        ({"compute": -1.0}, "compute = -1.0"),
        ({"compute": float("nan")}, "compute = nan"),
    ],
)
def test_numbers_that_are_none_are_refused_by_name(changed, says):
    JOB.check(2)
    with pytest.raises(ConfigurationError, match=says):
        replace(JOB, **changed).check(2)


def signature(spectrum):
    return replace(JOB, problem=problem("spec", 2, spectrum=spectrum)).signature


def test_all_entries_of_an_array_are_agreed_on():
    long, other = np.ones(3000), np.ones(3000)
    other[1500] = 0.5
    assert repr(long) == repr(other)  # NumPy leaves out the middle
    assert signature(long) == signature(long.copy())
    assert signature(long) != signature(other)
    assert signature(long) != signature(long.astype(np.float32))
