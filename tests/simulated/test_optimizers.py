"""Optimizers in their seats, and fused buckets, in whole runs."""

from __future__ import annotations

import numpy as np
import pytest

from mpiddl.errors import ConfigurationError
from mpiddl.layout import Bucket, Plan
from mpiddl.problems import problem
from mpiddl.schedule.whole import Whole
from mpiddl.train import Run, simulate
from mpiddl.variant import Variant

RULES = ["momentum:0.1", "adam:0.05", "lars:0.05,decay=0.01", "lamb:0.02@warmup:4"]
SCHEDULES = ["layerwise", "fused:1B", "fused:56B", "fused:1KB"]
every_rule = pytest.mark.parametrize("rule", RULES)


@pytest.fixture(scope="module")
def learnt():
    return problem("nc", 3, seed=1, layers=4, zeta2=0.5)


def models(line, learnt, clocks=12):
    """Return the models X (n, d) at the end."""
    variant = Variant.parse(line) if isinstance(line, str) else line
    return np.array([result.x for result in simulate(Run(variant, learnt, clocks))])


def mean_gradient(learnt, x, step):
    rows = np.empty((learnt.workers, x.size))
    for worker, row in enumerate(rows):
        for _ in learnt.gradient(x, learnt.batch(worker, step), row):
            pass
    return rows.mean(axis=0)


@every_rule
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_no_schedule_changes_a_number(rule, schedule, learnt):
    line = "bsp / allreduce:recursive_doubling / identity / {} / {}"
    whole = models(line.format("whole", rule), learnt)
    assert np.array_equal(models(line.format(schedule, rule), learnt), whole)


def test_fused_buckets_are_fewer_than_layers(learnt):
    counts = [
        len(
            Variant.parse(f"bsp / allreduce / identity / {each} / sgd:0.1")
            .schedule.plan(learnt.layout, 8)
            .buckets
        )
        for each in SCHEDULES
    ]
    assert counts[0] == counts[1] == 4
    assert counts[2:] == [2, 1]


@pytest.mark.parametrize("seat", ["none>{}", "{}>sgd:1"])
@every_rule
def test_all_workers_of_a_synchronous_run_agree(rule, seat, learnt):
    x = models(f"bsp / allreduce / identity / whole / {seat.format(rule)}", learnt)
    assert (x == x[0]).all()
    assert np.isfinite(x).all()


def test_momentum_in_the_outer_seat_is_the_heavy_ball_on_the_mean_gradient(learnt):
    x, before = learnt.start(), learnt.start()
    for t in range(12):
        x, before = x - 0.1 * mean_gradient(learnt, x, t) + 0.9 * (x - before), x
    line = "bsp / allreduce / identity / whole / momentum:0.1"
    assert np.allclose(models(line, learnt)[0], x, rtol=0, atol=1e-12)


def test_momentum_in_the_inner_seat_is_kept_by_each_worker(learnt):
    n, d, period = learnt.workers, learnt.layout.size, 3
    x, m, g = np.tile(learnt.start(), (n, 1)), np.zeros((n, d)), np.empty(d)
    for t in range(12 * period):
        for worker in range(n):
            for _ in learnt.gradient(x[worker], learnt.batch(worker, t), g):
                pass
            m[worker] = 0.9 * m[worker] + g
        x = x - 0.05 * m
        if (t + 1) % period == 0:
            x = np.tile(x.mean(axis=0), (n, 1))
    line = "local:3 / allreduce / identity / whole / momentum:0.05"
    assert np.allclose(models(line, learnt), x, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("seats", "alike"), [("sgd:{}>sgd:1", [1]), ("none>sgd:{}", [1, 2, 3, 4])], ids=["in", "out"]
)
def test_the_step_size_counts_steps_inside_and_clocks_outside(seats, alike, learnt):
    line = f"local:4 / allreduce / identity / whole / {seats}"
    same = [
        clocks
        for clocks in (1, 2, 3, 4, 5)
        if np.array_equal(
            models(line.format("0.1@step:4"), learnt, clocks),
            models(line.format("0.1"), learnt, clocks),
        )
    ]
    assert same == alike


@pytest.mark.parametrize("rule", ["lars:0.1", "lamb:0.1"])
@pytest.mark.parametrize("seats", ["{}", "{}>sgd:1", "sgd:0.1>{}"])
def test_a_plan_that_cuts_a_layer_is_refused_where_layers_matter(rule, seats, learnt):
    class Halves(Whole):
        def plan(self, layout, itemsize):
            layers, middle = range(len(layout.names)), layout.size // 2 - 1
            pieces = (slice(0, middle), slice(middle, layout.size))
            return Plan(tuple(Bucket(i, piece, layers) for i, piece in enumerate(pieces)))

    parsed = Variant.parse(f"bsp / allreduce / identity / whole / {seats.format(rule)}")
    parsed.check(learnt, 3)
    cut = Variant(parsed.sync, parsed.architecture, parsed.channel, Halves(), parsed.seats)
    with pytest.raises(ConfigurationError, match="whole layers"):
        cut.check(learnt, 3)
    plain = Variant.parse("bsp / allreduce / identity / whole / adam:0.1")
    Variant(plain.sync, plain.architecture, plain.channel, Halves(), plain.seats).check(learnt, 3)


@every_rule
def test_adaptive_rules_go_down(rule, learnt):
    x = models(f"bsp / allreduce / identity / whole / {rule}", learnt, 60)[0]
    assert learnt.loss(x) < 0.9 * learnt.loss(learnt.start())
