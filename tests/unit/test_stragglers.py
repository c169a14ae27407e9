"""How long gradients take: models of stragglers."""

from __future__ import annotations

import numpy as np
import pytest

from mpiddl.errors import ConfigurationError
from mpiddl.stragglers import EXAMPLES, ends, parse, stragglers

SAMPLE = 4000


def times(text, seed=3, worker=1):
    pace = parse(text, seed)
    return np.array([pace(worker, step) for step in range(SAMPLE)])


def test_every_model_has_an_example_that_prints_as_it_reads():
    assert set(EXAMPLES) == set(stragglers)
    for text in EXAMPLES.values():
        again = str(parse(text, 0))
        assert str(parse(again, 0)) == again


@pytest.mark.parametrize("sigma", [0.0, 0.5, 1.0])
def test_log_normal_times_have_the_mean_that_is_said(sigma):
    found = times(f"lognormal:2.0,sigma={sigma}")
    error = 2.0 * np.sqrt(np.exp(sigma**2) - 1) / np.sqrt(SAMPLE)
    assert abs(found.mean() - 2.0) <= 5 * error
    logs = np.log(found)
    assert logs.std() == pytest.approx(sigma, rel=0.1, abs=1e-12)


def test_who_is_held_up_by_chance_is_as_often_as_said():
    found = times("intermittent:1.0,chance=0.2,factor=5") == 5.0
    assert abs(found.mean() - 0.2) < 5 * np.sqrt(0.16 / SAMPLE)
    assert set(times("intermittent:1.0,chance=0.2,factor=5")) == {1.0, 5.0}


def test_one_is_slow():
    pace = parse("slow:1.0,worker=2,factor=3", 0)
    assert [pace(worker, 0) for worker in range(4)] == [1.0, 1.0, 3.0, 1.0]


@pytest.mark.parametrize("text", ["lognormal:1.0", "intermittent:1.0,chance=0.5"])
def test_draws_depend_on_seed_worker_and_step_alone(text):
    assert np.array_equal(times(text), times(text)[:SAMPLE])
    assert parse(text, 3)(1, 17) == times(text)[17]
    assert not np.array_equal(times(text), times(text, seed=4))
    assert not np.array_equal(times(text), times(text, worker=2))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("constant:-1", "seconds"),
        ("slow:1,factor=0.5", "factor"),
        ("slow:1,worker=-1", "worker"),
        ("slow:1,worker=0.5", "whole number"),
        ("slow:1,factor=inf", "factor"),
        ("constant:inf", "seconds"),
        ("lognormal:1,sigma=-1", "sigma"),
        ("lognormal:fast", "seconds"),
        ("intermittent:1,chance=1.5", "chance"),
        ("sometimes:1", "model of stragglers"),
        ("constant", "does not fit"),
    ],
)
def test_nonsense_is_refused(text, says):
    with pytest.raises(ConfigurationError, match=says):
        parse(text, 0)


def test_workers_end_when_the_fastest_does():
    slow = parse("slow:1.0,worker=0,factor=4", 0)
    assert ends(slow, 3, [1] * 10) == (2, 10, 10)
    assert ends(slow, 3, [5, 1]) == (1, 2, 2)  # at least 1
    assert ends(parse("constant:1.0", 0), 2, [4, 4]) == (2, 2)
    drawn = parse("lognormal:1.0,sigma=1", 5)
    made = ends(drawn, 4, [2] * 25)
    took = [
        sum(drawn(worker, step) for step in range(2 * clocks)) for worker, clocks in enumerate(made)
    ]
    fastest = min(time for time, clocks in zip(took, made, strict=True) if clocks == 25)
    for worker, clocks in enumerate(made):
        assert clocks == 1 or took[worker] <= fastest + 1e-9
        if clocks < 25:  # one more would have come too late
            more = drawn(worker, 2 * clocks) + drawn(worker, 2 * clocks + 1)
            assert took[worker] + more > fastest
