"""D2 against the paper's recursion, and its promise: what workers differ by does not matter."""

from __future__ import annotations

import numpy as np
import pytest

from mpiddl.architecture.topology import find, matrices_of
from mpiddl.errors import ConfigurationError
from mpiddl.problems import problems
from mpiddl.variant import Variant
from tests.simulated.test_variants import SIZES, gradients, models, topk

GAM = 0.125


def d2(problem, w, steps, gamma=0.5, first=None):
    """Return the models X (n, d), line by line as in the paper; `first` breaks it."""
    n = len(w)
    w = (1 - gamma) * np.eye(n) + gamma * w
    before = np.tile(problem.start(), (n, 1))
    old = GAM * gradients(problem, before, 0)
    x = w @ (before - old) if first is None else first @ (before - old)
    for t in range(1, steps):
        new = GAM * gradients(problem, x, t)
        x, before, old = w @ (2 * x - before - (new - old)), x, new
    return x


def case(graph="ring", more="", plan="whole", channel="identity"):
    return f"bsp / d2:{graph}{more} / {channel} / {plan} / sgd:{GAM}"


CASES = [
    ("ring", "", "whole", 0.5),
    ("star", "", "layerwise", 0.5),
    ("torus", ",gamma=0.25", "whole", 0.25),
    ("path", "", "whole", 0.5),
    ("complete", ",gamma=1", "layerwise", 1.0),
    ("two_level:3", "", "whole", 0.5),
]


@pytest.mark.parametrize(("graph", "more", "plan", "gamma"), CASES)
@pytest.mark.parametrize("n", SIZES)
def test_d2_is_its_recursion(graph, more, plan, gamma, n):
    problem, line = problems["nc"](n, seed=5, layers=2, zeta2=0.5), case(graph, more, plan)
    expected = d2(problem, find(graph).matrix(n), 40, gamma)
    assert np.allclose(models(line, problem, 40), expected, rtol=0, atol=1e-13)
    assert str(Variant.parse(line)) == line


@pytest.mark.parametrize("name", ["het", "breast_cancer", "diabetes"])
def test_it_is_so_on_other_problems(name):
    made = {"het": {"zeta2": 2.0, "sigma2": 1.0}}.get(name, {"sharding": "disjoint", "sort": True})
    problem = problems[name](5, seed=2, **made)
    expected = d2(problem, find("ring").matrix(5), 25)
    assert np.allclose(models(case(), problem, 25), expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(("weights", "graph"), [("fastest", "ring"), ("metropolis", "exponential")])
def test_other_weights_are_those_that_are_asked_for(weights, graph):
    problem = problems["nc"](7, seed=5, zeta2=0.5)
    (w,) = matrices_of(graph, weights, 7)
    found = models(case(graph, f",weights={weights}"), problem, 30)
    assert np.allclose(found, d2(problem, w, 30), rtol=0, atol=1e-13)
    assert not np.allclose(found, d2(problem, find("ring").matrix(7), 30), rtol=0, atol=1e-4)


def test_the_comparison_notices_another_share_and_a_wrong_first_step():
    problem, w = problems["nc"](5, seed=5, zeta2=0.5), find("ring").matrix(5)
    found = models(case(), problem, 40)
    assert not np.allclose(found, d2(problem, w, 40, gamma=0.6), rtol=0, atol=1e-5)
    assert not np.allclose(found, d2(problem, w, 40, first=w), rtol=0, atol=1e-5)


def away(line, clocks, n=5):
    problem = problems["heta"](n, seed=1, sigma2=0.0, spectrum=(0.5, 0.6, 0.8, 1.0))
    x = models(line, problem, clocks)
    return np.abs(x - problem.optimum).max()


def test_workers_that_differ_meet_at_the_minimum_of_all_where_gossip_stalls():
    """Quadratics with different Hessians and minima, no noise."""
    assert away(case(), 700) < 1e-12
    plain = [away(case().replace("d2:", "gossip:"), clocks) for clocks in (700, 1400)]
    assert min(plain) > 1e-2
    assert plain[0] == pytest.approx(plain[1], rel=1e-6)  # it no longer moves


def test_what_workers_differ_by_does_not_keep_them_apart():
    def apart(line, zeta2):
        problem = problems["het"](8, seed=1, sigma2=1.0, zeta2=zeta2)
        x = models(line.replace("0.125", "0.05"), problem, 400)
        return float(((x - x.mean(axis=0)) ** 2).sum(axis=1).mean())

    assert apart(case(), 25.0) == pytest.approx(apart(case(), 0.0), rel=1e-3)
    plain = case().replace("d2:", "gossip:")
    assert apart(plain, 25.0) > 10 * apart(plain, 0.0)


def test_the_bound_of_the_eigenvalues_is_where_it_stops_converging(tmp_path, monkeypatch):
    """Two ranks, W' = [[a, 1-a], [1-a, a]]: lambda = 2 a - 1; around -1/3 it turns."""
    problem = problems["het"](2, seed=0, sigma2=0.0, zeta2=1.0)
    monkeypatch.setattr("mpiddl.architecture.d2.LEAST", -1.0)
    apart = {}
    for least in (-0.31, -0.325, -0.345):
        path, a = tmp_path / "w.txt", (1 + least) / 2
        path.write_text(f"{a} {1 - a}\n{1 - a} {a}\n", "utf-8")
        found = [models(case(str(path), ",gamma=1"), problem, clocks) for clocks in (200, 600)]
        apart[least] = [np.linalg.norm(x - x.mean(axis=0)) for x in found]
    assert apart[-0.31][1] < 0.1 * apart[-0.31][0]
    assert apart[-0.325][1] < apart[-0.325][0]
    assert apart[-0.345][1] > 10 * apart[-0.345][0]


@pytest.mark.parametrize("channel", ["fp16", "qsgd:4", "diff+topk:0.2", "randk:0.3", "topk:0.2"])
def test_the_mean_of_all_models_never_hears_of_compression(channel):
    problem = problems["iso"](5, seed=3, zeta2=0.5)  # linear: the mean gradient is that of the mean
    x = models(case("ring", ",gamma=0.1", channel=channel), problem, 30)
    bsp = models(f"bsp / allreduce / identity / whole / sgd:{GAM}", problem, 30)
    assert np.allclose(x.mean(axis=0), bsp[0], rtol=0, atol=1e-12)


def test_references_let_it_reach_the_minimum_in_few_words():
    few = case("ring", ",gamma=0.1", channel="diff+topk:0.5")
    assert away(few, 1000, 4) < 1e-9
    assert away(few.replace("diff+", ""), 1000, 4) > 1e-3


def test_references_say_what_the_recursion_says():
    problem, n, gamma = problems["nc"](5, seed=5, zeta2=0.5), 5, 0.2
    w, x = find("ring").matrix(5), np.tile(problem.start(), (5, 1))
    h, alone = x.copy(), x.copy()
    for t in range(30):
        y = x - GAM * gradients(problem, x, t)
        said = y + (x - alone if t else 0)
        h = h + np.array([topk(v, 0.2) for v in said - h])
        x, alone = said + gamma * (w @ h - h), y
    found = models(case("ring", f",gamma={gamma}", channel="diff+topk:0.2"), problem, 30)
    assert len(found) == n
    assert np.allclose(found, x, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("line", "n", "says"),
    [
        ("ssp:1 / d2:ring / identity / whole / sgd:0.1", 4, "clock, but ssp:1 .* use gossip:ring"),
        ("local:4 / d2:ring / identity / whole / sgd:0.1", 4, "use bsp, or gossip:ring with local"),
        ("bsp / d2:exponential / identity / whole / sgd:0.1", 8, "one way: add weights=metropolis"),
        ("bsp / d2:one_peer_exponential / identity / whole / sgd:0.1", 8, "change from clock to"),
        ("bsp / d2:hypercube,gamma=1 / identity / whole / sgd:0.1", 8, r"-0\.5000: use gamma=0\.5"),
        ("bsp / d2:ring,gamma=1 / identity / whole / sgd:0.1", 8, r"the least is -0\.3333"),
        ("bsp / d2:ring / ef+sign / whole / sgd:0.1", 4, "remembers displacements"),
        ("bsp / d2:ring / identity / whole / none>sgd:0.1", 4, "give it an inner optimizer"),
        ("bsp / d2:ring / identity / whole / sgd:0.1>momentum:1", 4, "write sgd:0.1>sgd:1"),
        (
            "bsp / d2:ring,weights=fast / identity / whole / sgd:0.1",
            4,
            "graph, metropolis, fastest",
        ),
        (
            "bsp / d2:torus,weights=fastest / identity / whole / sgd:0.1",
            4,
            "use weights=metropolis",
        ),
        ("bsp / d2:ring,gamma=0 / identity / whole / sgd:0.1", 4, "write d2:ring,gamma=0.2"),
    ],
)
def test_what_d2_cannot_do_is_refused_with_a_remedy(line, n, says):
    with pytest.raises(ConfigurationError, match=says):
        models(line, problems["iso"](n, seed=0), 2)


@pytest.mark.parametrize("line", [case("exponential", ",weights=metropolis"), case("hypercube")])
def test_the_remedies_work(line):
    assert np.isfinite(models(line, problems["iso"](8, seed=0), 20)).all()
