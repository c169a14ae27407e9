"""Push-sum against its recursion: links one way, weights that take off the bias, sums that stay."""

from __future__ import annotations

import numpy as np
import pytest

from mpiddl.architecture import push_sum
from mpiddl.architecture.sharing import check_sharing
from mpiddl.architecture.topology import cycle, find
from mpiddl.errors import ConfigurationError
from mpiddl.problems import problems
from mpiddl.variant import Variant
from tests.simulated.test_variants import SIZES, gradients, models, topk

GAM = 0.125


def pushed(problem, matrices, steps, gamma=1.0, period=1, code=None):
    """Return Z (n, d) and w (n,), line by line as in the paper; with `code`, in few words."""
    n = len(matrices[0])
    z = np.tile(problem.start(), (n, 1))
    x, w, h = z.copy(), np.ones(n), z.copy()
    for t in range(steps):
        p, y = matrices[t % len(matrices)], z
        for step in range(t * period, (t + 1) * period):
            y = y - GAM * gradients(problem, y, step)
        said = x - (z - y)
        h = said if code is None else h + np.array([code(v) for v in said - h])
        x, w = said + gamma * (p @ h - h), (1 - gamma) * w + gamma * (p @ w)
        z = x / w[:, None]
    return z, w


def case(graph="directed_random:0.3", more="", plan="whole", channel="identity", sync="bsp"):
    return f"{sync} / push_sum:{graph}{more} / {channel} / {plan} / sgd:{GAM}"


CASES = [
    ("directed_random:0.3", {}),
    ("directed_random:0.5;seed=4", {"plan": "layerwise"}),
    ("directed_random:0", {}),
    ("one_peer_exponential", {}),
    ("exponential", {"sync": "local:3"}),
    ("directed_random:0.4", {"sync": "local:4", "more": ",gamma=0.5"}),
    ("star", {}),
]


@pytest.mark.parametrize(("graph", "options"), CASES)
@pytest.mark.parametrize("n", SIZES)
def test_push_sum_is_its_recursion(graph, options, n):
    problem, line = problems["nc"](n, seed=5, layers=2, zeta2=0.5), case(graph, **options)
    variant = Variant.parse(line)
    matrices, period = variant.architecture.matrices(n), variant.sync.period
    expected, _ = pushed(problem, matrices, 30, variant.architecture.gamma, period)
    assert np.allclose(models(line, problem, 30), expected, rtol=0, atol=1e-13)
    assert str(variant) == line


@pytest.mark.parametrize("name", ["het", "breast_cancer", "diabetes"])
def test_it_is_so_on_other_problems(name):
    made = {"het": {"zeta2": 2.0, "sigma2": 1.0}}.get(name, {"sharding": "disjoint", "sort": True})
    problem = problems[name](5, seed=2, **made)
    expected, _ = pushed(problem, [find("directed_random:0.3").matrix(5)], 25)
    assert np.allclose(models(case(), problem, 25), expected, rtol=1e-13, atol=1e-13)


def test_references_say_what_the_recursion_says():
    problem, p = problems["nc"](5, seed=5, zeta2=0.5), find("directed_random:0.3").matrix(5)
    expected, _ = pushed(problem, [p], 30, 0.2, code=lambda v: topk(v, 0.2))
    line = case(more=",gamma=0.2", channel="diff+topk:0.2")
    assert np.allclose(models(line, problem, 30), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("graph", ["exponential", "one_peer_exponential", "ring"])
def test_where_rows_add_up_to_one_it_is_gossip(graph):
    problem = problems["nc"](6, seed=5, zeta2=0.5)
    one, other = (models(case(graph).replace("push_sum", arch), problem, 40) for arch in WHO)
    assert np.allclose(one, other, rtol=0, atol=1e-13)


WHO = ("push_sum", "gossip")


def watched(monkeypatch):
    """Return what will hold (rank, clock, X', w, delta) of every push."""
    seen = []

    class Watched(push_sum._Exchange):
        def push(self, clock, finite):
            super().push(clock, finite)
            row = self.shared.copy(), float(self.weight[0]), self.lane.delta.copy()
            seen.append((self.mixer.comm.rank, clock, *row))

    monkeypatch.setattr(push_sum, "_Exchange", Watched)
    return seen


@pytest.mark.parametrize("channel", ["identity", "fp16", "qsgd:4", "randk:0.3", "diff+topk:0.2"])
@pytest.mark.parametrize("graph", ["directed_random:0.3", "one_peer_exponential"])
def test_the_sums_are_kept_whatever_the_words(channel, graph, monkeypatch):
    seen = watched(monkeypatch)
    problem = problems["nc"](5, seed=3, zeta2=1.0)
    models(case(graph, ",gamma=0.5", channel=channel), problem, 25)
    total = 5 * problem.start()
    for clock in range(25):
        rows = [row for row in seen if row[1] == clock]
        assert sum(row[3] for row in rows) == pytest.approx(5, abs=1e-13)
        total = total - sum(row[4] for row in rows)
        assert np.allclose(sum(row[2] for row in rows), total, rtol=0, atol=1e-12)
        assert min(row[3] for row in rows) > 0
    flat = all(abs(row[3] - 1) < 1e-13 for row in seen)
    assert flat == (graph == "one_peer_exponential")  # doubly stochastic


def test_weights_take_off_the_bias_of_links_one_way():
    """Averaging alone: Z goes to the mean, as fast as P's second eigenvalue; X does not."""
    n, p = 8, find("directed_random:0.2").matrix(8)
    start = np.random.default_rng(0).standard_normal(n)
    x, w = start.copy(), np.ones(n)
    gaps = []
    for _ in range(60):
        x, w = p @ x, p @ w
        gaps.append(np.abs(x / w - start.mean()).max())
    second = np.sort(np.abs(np.linalg.eigvals(p)))[-2]
    assert (gaps[30] / gaps[10]) ** (1 / 20) == pytest.approx(second, rel=0.1)
    assert np.abs(x - start.mean()).max() > 0.01
    problem = problems["iso"](n, seed=1, sigma2=0.0)
    z = models(case("directed_random:0.2"), problem, 300)
    assert np.allclose(z, problem.optimum, rtol=0, atol=1e-12)


def test_the_minimum_is_that_of_all_and_not_of_those_who_are_heard_most():
    problem = problems["heta"](5, seed=1, sigma2=0.0, spectrum=(0.5, 0.6, 0.8, 1.0))
    graph, gaps = "directed_random:0.2", []
    for rate in (0.02, 0.01):
        line = case(graph).replace(f"sgd:{GAM}", f"sgd:{rate}")
        gaps.append(np.abs(models(line, problem, 1000) - problem.optimum).max())
    assert gaps[1] < 0.6 * gaps[0] < 0.1  # it goes with the step size


# which matrices


def test_one_way_edges_of_a_file_are_shared_out_equally(tmp_path):
    path = tmp_path / "oneway.txt"
    path.write_text("0 > 1\n1 > 2\n2 > 0\n0 > 2  # rank 0 is heard by both\n", "utf-8")
    expected = [[1 / 3, 0, 1 / 2], [1 / 3, 1 / 2, 0], [1 / 3, 1 / 2, 1 / 2]]
    assert np.allclose(find(str(path)).matrix(3), expected, rtol=0, atol=1e-15)
    problem = problems["nc"](3, seed=5, zeta2=0.5)
    found = models(case(str(path)), problem, 20)
    assert np.allclose(found, pushed(problem, [np.array(expected)], 20)[0], rtol=0, atol=1e-13)
    with pytest.raises(ConfigurationError, match="or push_sum where columns add up to 1"):
        models(case(str(path)).replace("push_sum", "gossip"), problem, 2)


def test_edges_one_way_and_both_ways_may_be_mixed(tmp_path):
    path = tmp_path / "mixed.txt"
    path.write_text("0 1\n1 > 2\n2 > 0\n", "utf-8")
    assert np.allclose(
        find(str(path)).matrix(3), [[1 / 2, 1 / 3, 1 / 2], [1 / 2, 1 / 3, 0], [0, 1 / 3, 1 / 2]]
    )
    path.write_text("0 > 1\n1 > 2\n0 1\n", "utf-8")
    with pytest.raises(ConfigurationError, match="line 3: the edge 0 1 is there twice, first on"):
        find(str(path)).matrix(3)


ROWS = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.25, 0.25, 0.5]])


@pytest.mark.parametrize(
    ("p", "says"),
    [
        (ROWS, "only its rows add up to 1, .* use the transpose"),
        (ROWS.T * 0.9, "column j holds the shares of rank j"),
        (np.array([[1.5, 0.0], [-0.5, 1.0]]), "share -0.5 in row 1, column 0"),
        (np.array([[0.5, 0.0], [0.5, 1.0]]), "rank 0 never hears of rank 1; add links"),
        (np.eye(3), "not strongly connected"),
        (np.roll(np.eye(3), 1, axis=0), "keeps nothing of its own"),
    ],
)
def test_matrices_that_share_nothing_out_are_refused(p, says):
    with pytest.raises(ConfigurationError, match=says):
        check_sharing([p], "mine")


def test_the_transpose_is_taken_and_a_turn_may_connect_what_a_clock_does_not():
    check_sharing([ROWS.T], "mine")
    one, other = np.array([[0.5, 0.0], [0.5, 1.0]]), np.array([[1.0, 0.5], [0.0, 0.5]])
    check_sharing([one, other], "mine")
    for n in (1, 2, 3, 5, 8, 13):
        for graph in ("directed_random:0", "directed_random:0.3", "one_peer_exponential"):
            check_sharing(cycle(find(graph), n), graph)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("asp / push_sum:ring / identity / whole / sgd:0.1", "use gossip:ring or ps"),
        ("bsp / push_sum:ring / ef+sign / whole / sgd:0.1", "remembers displacements: use"),
        ("bsp / push_sum:ring / identity / whole / none>sgd:0.1", "give it an inner optimizer"),
        ("bsp / push_sum:directed_random:2 / identity / whole / sgd:0.1", r"in \[0, 1\]"),
    ],
)
def test_what_push_sum_cannot_do_is_refused_with_a_remedy(line, says):
    with pytest.raises(ConfigurationError, match=says):
        models(line, problems["iso"](5, seed=0), 2)
