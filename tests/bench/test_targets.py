from __future__ import annotations

from math import isnan

import numpy as np
import pytest

from bench.jobs import Job, Outcome
from bench.targets import agreed_target, reached
from bench.variants import entry
from mpiddl.curve import COLUMNS, Curve
from mpiddl.problems import problem
from mpiddl.train import Run

BSP, OTHER = entry("bsp"), entry("sign")


def outcome(losses, seconds=1.0, nbytes=10.0, name="iso") -> Outcome:
    """Return a made-up outcome: a snapshot a clock."""
    rows = []
    for clock, loss in enumerate(losses):
        row = dict.fromkeys(COLUMNS, 0.0)
        row |= {"clock": clock, "loss": loss, "seconds": clock * seconds, "bytes": clock * nbytes}
        rows.append(tuple(float(row[name]) for name in COLUMNS))
    run = Run(BSP.variant(0.1), problem(name, 2, 0), len(losses) - 1, 1)
    diverged = not np.isfinite(losses[-1])
    return Outcome(Job("x", run), Curve(tuple(rows)), diverged, 0, 0)


def test_the_target_is_what_bsp_reaches_at_half_of_its_clocks():
    runs = {OTHER: [outcome([9, 1, 1, 1, 1])], BSP: [outcome([9, 8, 7, 6, 5])]}
    target = agreed_target(None, runs)
    assert target.value == 7.0
    assert "bsp" in target.meaning
    assert "clock 2 of 4" in target.meaning


def test_without_bsp_it_is_what_the_best_reaches():
    worse, better = outcome([9, 8, 7]), outcome([9, 4, 3])
    assert agreed_target(None, {OTHER: [worse], entry("top-k"): [better]}).value == 4.0


def test_a_target_that_was_asked_for_is_the_target():
    assert agreed_target(0.5, {BSP: [outcome([9, 1])]}).value == 0.5


def test_where_all_runs_diverge_there_is_no_target():
    wild = outcome([1.0, float("nan")])
    assert agreed_target(None, {BSP: [wild]}) is None
    assert reached([wild], None) is None


@pytest.mark.parametrize(("target", "clock"), [(9.0, 0), (8.5, 1), (7.0, 2), (5.0, 4), (4.9, None)])
def test_it_is_reached_at_the_first_snapshot_that_is_as_good(target, clock):
    took = reached([outcome([9, 8, 7, 6, 5])], agreed_target(target, {}))
    if clock is None:
        assert took is None
    else:
        assert (took.seconds, took.bytes) == (clock, 10.0 * clock)


def test_seeds_are_judged_by_their_mean():
    both = [outcome([9, 8, 0], seconds=1.0), outcome([9, 8, 4], seconds=3.0)]
    assert reached(both, agreed_target(2.0, {})).seconds == 4.0
    assert reached(both, agreed_target(1.9, {})) is None


def test_a_run_that_ends_in_nan_may_have_been_there_before():
    took = reached([outcome([9, 1, float("nan")])], agreed_target(2.0, {}))
    assert took.seconds == 1.0
    assert not isnan(took.bytes)


def test_f_star_is_subtracted():
    learnt = problem("breast_cancer", 2, 0)
    f_star = learnt.constants.f_star
    runs = [outcome([1.0, f_star + 0.5], name="breast_cancer")]
    assert reached(runs, agreed_target(0.51, {})).seconds == 1.0
    assert reached(runs, agreed_target(0.49, {})) is None
