from __future__ import annotations

import numpy as np
import pytest

from bench.jobs import Job
from bench.wrappers import Scattered, Wrapped
from mpiddl.problems import problem
from mpiddl.train import Run, simulate
from mpiddl.variant import Variant

LINES = [
    "bsp / allreduce / identity / whole / sgd:0.1",
    "local:4 / allreduce / identity / whole / sgd:0.1",
    "bsp / allreduce / ef+topk:0.3 / whole / sgd:0.1>sgd:1",
    "bsp / gossip:ring / identity / whole / sgd:0.1",
]


@pytest.mark.parametrize("line", LINES)
def test_a_watched_run_is_the_same_run(simulated, line):
    run = Run(Variant.parse(line), problem("nc", 4, 5, zeta2=1.0), 6, every=2)
    found = simulated([Job("plain", run), Job("watched", run, watched=True)])
    assert found["plain"].curve == found["watched"].curve
    assert found["plain"].sent == found["watched"].sent


@pytest.mark.parametrize("line", LINES)
def test_what_is_written_down_moves_the_mean_model(simulated, line):
    run = Run(Variant.parse(line), problem("nc", 4, 5, zeta2=1.0), 6)
    traces = simulated([Job("it", run, watched=True)])["it"].traces
    y, g = (np.mean([getattr(t, name) for t in traces], axis=0) for name in ("y", "g"))
    v = np.vstack((y, np.mean([t.x for t in traces], axis=0)))
    if "ef+" in line:
        v -= np.mean([t.e for t in traces], axis=0)
    assert np.allclose(np.diff(v, axis=0), -0.1 * g, atol=1e-14)
    assert all((t.e is None) is ("ef+" not in line) for t in traces)


@pytest.mark.parametrize("words", ["randk:0.3", "randk:0.3,mask=shared", "qsgd:3", "diff+topk:0.3"])
def test_what_was_said_moves_the_model(simulated, words):
    line = f"bsp / allreduce / {words} / whole / sgd:0.1"
    run = Run(Variant.parse(line), problem("nc", 4, 5, zeta2=1.0), 6)
    found = simulated([Job("plain", run), Job("watched", run, watched=True)])
    assert found["plain"].curve == found["watched"].curve
    traces = found["watched"].traces
    x = np.vstack((traces[0].y, traces[0].x))
    said = np.mean([t.said for t in traces], axis=0)
    assert np.allclose(np.diff(x, axis=0), -0.1 * said, atol=1e-14)
    assert not np.allclose(said, np.mean([t.g for t in traces], axis=0))
    assert all(t.e is None for t in traces)


def test_a_wrapped_problem_is_the_problem_inside():
    inner = problem("breast_cancer", 3, 1)
    outer, x = Wrapped(inner), np.full(inner.layout.size, 0.1)
    assert (outer.name, outer.workers, outer.seed) == (inner.name, inner.workers, inner.seed)
    assert (outer.constants, outer.loss(x)) == (inner.constants, inner.loss(x))
    assert outer.noise2(x) == inner.noise2(x)
    variant = Variant.parse(LINES[0])
    assert simulate(Run(variant, outer, 3))[0].curve == simulate(Run(variant, inner, 3))[0].curve


def test_scattered_workers_keep_their_mean_and_come_together():
    learnt = Scattered(problem("iso", 5, 2))
    variant = Variant.parse("bsp / gossip:ring / identity / whole / sgd:1")
    results = simulate(Run(variant, learnt, 30, every=1))
    start = learnt.start() - np.mean([learnt.batch(i, 0) for i in range(5)], axis=0)
    assert np.mean([result.x for result in results], axis=0) == pytest.approx(start)
    apart = results[0].curve["consensus2"][1:]
    assert (np.diff(apart) < 0).all()
