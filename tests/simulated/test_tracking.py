"""Gradient tracking against its recursion, and what it keeps: the mean of headings."""

from __future__ import annotations

import numpy as np
import pytest

from mpiddl.architecture import tracking
from mpiddl.architecture.topology import cycle, find
from mpiddl.errors import ConfigurationError
from mpiddl.problems import problems
from mpiddl.variant import Variant
from tests.simulated.test_variants import SIZES, gradients, models, topk

GAM = 0.125


def tracked(problem, matrices, steps, gamma=1.0, period=1, code=None):
    """Return models and headings (n, d); with `code`, differences to references are said."""
    n = len(matrices[0])
    x = np.tile(problem.start(), (n, 1))
    both, before = np.hstack([x, np.zeros_like(x)]), 0.0
    h = both.copy()
    for t in range(steps):
        clock = range(t * period, (t + 1) * period)
        g = np.mean([gradients(problem, x, step) for step in clock], axis=0)
        y = both[:, x.shape[1] :] + g - before
        before = g
        said = np.hstack([x - GAM * y, y])
        h = said if code is None else h + np.array([code(v) for v in said - h])
        both = said + gamma * (matrices[t % len(matrices)] @ h - h)
        x = both[:, : x.shape[1]]
    return x, both[:, x.shape[1] :]


def case(graph="ring", more="", plan="whole", channel="identity", sync="bsp", seat=""):
    return f"{sync} / tracking:{graph}{more} / {channel} / {plan} / {seat}sgd:{GAM}"


CASES = [
    ("ring", {}),
    ("star", {"plan": "layerwise"}),
    ("exponential", {}),
    ("one_peer_exponential", {}),
    ("complete", {"more": ",gamma=0.5"}),
    ("ring", {"sync": "local:3", "seat": "none>"}),
    ("one_peer_exponential", {"more": ",weights=metropolis", "plan": "layerwise"}),
]


@pytest.mark.parametrize(("graph", "options"), CASES)
@pytest.mark.parametrize("n", SIZES)
def test_tracking_is_its_recursion(graph, options, n):
    problem, line = problems["nc"](n, seed=5, layers=2, zeta2=0.5), case(graph, **options)
    variant = Variant.parse(line)
    matrices, period = variant.architecture.matrices(n), variant.sync.period
    expected, _ = tracked(problem, matrices, 30, variant.architecture.gamma, period)
    assert np.allclose(models(line, problem, 30), expected, rtol=0, atol=1e-13)
    assert str(variant) == line


@pytest.mark.parametrize("name", ["het", "breast_cancer", "diabetes"])
def test_it_is_so_on_other_problems(name):
    made = {"het": {"zeta2": 2.0, "sigma2": 1.0}}.get(name, {"sharding": "disjoint", "sort": True})
    problem = problems[name](5, seed=2, **made)
    expected, _ = tracked(problem, [find("ring").matrix(5)], 25)
    assert np.allclose(models(case(), problem, 25), expected, rtol=1e-13, atol=1e-13)


def test_references_say_what_the_recursion_says():
    problem = problems["nc"](5, seed=5, zeta2=0.5)
    matrices = [find("ring").matrix(5)]
    expected, _ = tracked(problem, matrices, 30, 0.2, code=lambda v: topk(v, 0.2))
    line = case(more=",gamma=0.2", channel="diff+topk:0.2")
    assert np.allclose(models(line, problem, 30), expected, rtol=0, atol=1e-13)


def test_the_comparison_notices_another_order_of_matrices():
    problem, found = problems["nc"](5, seed=5, zeta2=0.5), cycle(find("one_peer_exponential"), 5)
    x = models(case("one_peer_exponential"), problem, 30)
    assert np.allclose(x, tracked(problem, found, 30)[0], rtol=0, atol=1e-13)
    assert not np.allclose(x, tracked(problem, found[::-1], 30)[0], rtol=0, atol=1e-5)


@pytest.mark.parametrize("channel", ["identity", "fp16", "qsgd:4", "diff+topk:0.2", "topk:0.2"])
@pytest.mark.parametrize("graph", ["ring", "one_peer_exponential"])
def test_the_mean_of_all_headings_is_that_of_all_gradients(channel, graph, monkeypatch):
    """Whatever was said: what a rank adds for its neighbours, they take off for it."""
    seen = []

    class Watched(tracking._Exchange):
        def push(self, clock, finite):
            super().push(clock, finite)
            seen.append((clock, self.heading.copy(), self.lane.delta.copy()))

    monkeypatch.setattr(tracking, "_Exchange", Watched)
    problem = problems["nc"](4, seed=3, zeta2=1.0)
    models(case(graph, ",gamma=0.2", channel=channel), problem, 25)
    for clock in range(25):
        headings, found = zip(*((y, g) for at, y, g in seen if at == clock), strict=True)
        assert len(headings) == 4
        assert np.allclose(np.mean(headings, axis=0), np.mean(found, axis=0), rtol=0, atol=1e-13)
        if clock:
            assert not np.allclose(headings, found, rtol=0, atol=1e-3)  # each has its own


def away(line, clocks, n=8):
    problem = problems["heta"](n, seed=1, sigma2=0.0, spectrum=(0.5, 0.6, 0.8, 1.0))
    return np.abs(models(line, problem, clocks) - problem.optimum).max()


@pytest.mark.parametrize("graph", ["ring", "exponential", "one_peer_exponential", "star"])
def test_workers_that_differ_meet_at_the_minimum_of_all_where_gossip_stalls(graph):
    slow = case(graph).replace("sgd:0.125", "sgd:0.05")
    assert away(slow, 1200, 5) < 1e-12
    assert away(slow.replace("tracking:", "gossip:"), 1200, 5) > 1e-3


def test_references_let_it_reach_the_minimum_in_few_words():
    line = case("ring", ",gamma=0.1", channel="diff+topk:0.5").replace("sgd:0.125", "sgd:0.02")
    assert away(line, 1500, 4) < 1e-7
    assert away(line.replace("diff+", ""), 1500, 4) > 1e-3


def test_any_optimizer_may_move_along_the_heading():
    problem = problems["nc"](4, seed=1, zeta2=0.5)
    serial = problems["nc"](4, seed=1, zeta2=0.5)
    one = models("bsp / tracking:complete / identity / whole / momentum:0.1", problem, 20)
    other = models("bsp / allreduce / identity / whole / momentum:0.1", serial, 20)
    assert np.abs(one - other).max() < 0.2  # headings lag behind by one mixing
    assert np.allclose(one[0], one, rtol=0, atol=0.2)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("ssp:1 / tracking:ring / identity / whole / sgd:0.1", "use gossip:ring or ps"),
        ("bsp / tracking:ring / ef+sign / whole / sgd:0.1", "remembers displacements: use"),
        ("bsp / tracking:ring / identity / whole / sgd:0.1>sgd:1", "as in none>sgd:0.1"),
        ("local:4 / tracking:ring / identity / whole / sgd:0.1", "as in none>sgd:0.1"),
        ("bsp / tracking:directed_random:0.2 / identity / whole / sgd:0.1", "or push_sum"),
        ("bsp / tracking:ring / identity / whole / quasi_global:0.1", "move each worker along"),
    ],
)
def test_what_tracking_cannot_do_is_refused_with_a_remedy(line, says):
    with pytest.raises(ConfigurationError, match=says):
        models(line, problems["iso"](5, seed=0), 2)
