"""Graphs: what each mixing matrix is, how fast it mixes, and which are refused with what words."""

from __future__ import annotations

from time import perf_counter

import numpy as np
import pytest

from mpiddl.architecture.d2 import D2
from mpiddl.architecture.gossip import Gossip
from mpiddl.architecture.mixing import check_mixing, components
from mpiddl.architecture.sharing import check_sharing
from mpiddl.architecture.topology import (
    contraction,
    cycle,
    edges,
    find,
    matrices_of,
    metropolis,
    topologies,
)
from mpiddl.errors import ConfigurationError
from theory.mixing import lam, matrix, one_peer

SIZES = (*range(1, 14), 16, 17, 25, 31, 32, 36, 48, 63, 64)
CLOSED = ("complete", "exponential", "hypercube", "path", "ring", "star", "torus")
OF_NODES = tuple(f"two_level:{group}" for group in (1, 2, 3, 4, 6))
FASTEST = ("complete", "hypercube", "ring", "star")
OTHERS = (
    "one_peer_exponential",
    "random_regular:4",
    "random_regular:3;seed=2",
    "erdos_renyi:0.5",
    "two_level:4",
    "two_level:1",
    "directed_random:0.2",
)
every_graph = pytest.mark.parametrize("graph", CLOSED)


def test_every_graph_is_tested_here():
    assert {text.partition(":")[0] for text in (*CLOSED, *OTHERS)} == set(topologies)


def allowed(graph, n):
    if graph.startswith("random_regular"):
        degree = find(graph).degree
        return n == 1 or (degree < n and n * degree % 2 == 0)
    return graph != "hypercube" or n & (n - 1) == 0


def closed(graph, n):
    """Whether n ranks have a closed form; of nodes they do if the last one is whole."""
    return allowed(graph, n) and (graph not in OF_NODES or n % min(find(graph).group, n) == 0)


@pytest.mark.parametrize("graph", [*CLOSED, *OF_NODES])
def test_a_graph_mixes_as_fast_as_its_closed_form_for_every_number_of_ranks(graph):
    for n in filter(lambda n: closed(graph, n), SIZES):
        w = find(graph).matrix(n)
        check_mixing([w], graph)
        assert np.allclose(w, matrix(graph, n), rtol=0, atol=1e-15), n
        assert contraction(w) == pytest.approx(lam(graph, n), abs=1e-12), n
        assert (np.diagonal(w) > 0).all()


@pytest.mark.parametrize("graph", FASTEST)
def test_the_fastest_weights_are_those_of_the_closed_form(graph):
    for n in filter(lambda n: closed(graph, n), SIZES):
        (w,) = matrices_of(graph, "fastest", n)
        text = f"{graph},weights=fastest"
        assert np.allclose(w, matrix(text, n), rtol=0, atol=1e-14), n
        assert contraction(w) == pytest.approx(lam(text, n), abs=1e-12), n


@pytest.mark.parametrize("graph", [*(one for one in CLOSED if one != "exponential"), *OF_NODES])
def test_d2_takes_the_lazy_matrix_of_the_closed_form(graph):
    for n in filter(lambda n: closed(graph, n), SIZES):
        d2 = D2(graph)
        (w,) = d2.matrices(n)
        w = (1 - d2.gamma) * np.eye(n) + d2.gamma * w
        assert np.allclose(w, matrix(f"{graph},gamma=0.5", n), rtol=0, atol=1e-15), n
        assert contraction(w) == pytest.approx(lam(f"{graph},gamma=0.5", n), abs=1e-12), n


def test_a_turn_of_one_peer_a_clock_is_what_its_closed_form_says():
    for n in SIZES:
        turn, clocks = (
            find("one_peer_exponential").matrix(n),
            cycle(find("one_peer_exponential"), n),
        )
        assert all(map(np.array_equal, clocks, one_peer(n)))
        assert contraction(turn) == pytest.approx(lam("one_peer_exponential", n), abs=1e-12), n
        assert np.allclose(turn, 1 / n, rtol=0, atol=1e-15) == (n & (n - 1) == 0)


@pytest.mark.parametrize("graph", [*(one for one in CLOSED if one != "complete"), *OF_NODES])
def test_another_number_or_other_weights_do_not_fit_a_closed_form(graph):
    sizes = [n for n in SIZES if n > 4 and closed(graph, n)]
    found = {n: contraction(find(graph).matrix(n)) for n in sizes}

    def misfits(says):
        return [n for n in sizes if abs(found[n] - says(n)) > 1e-12]

    assert not misfits(lambda n: lam(graph, n))
    assert misfits(lambda n: lam(graph, sizes[-1]))
    assert misfits(lambda n: lam(f"{graph},gamma=0.999", n)) == sizes


@every_graph
def test_averaging_shrinks_at_least_by_lam(graph):
    w = find(graph).matrix(8)
    x = np.random.default_rng(0).standard_normal(8)
    x -= x.mean()
    away = [np.linalg.norm(np.linalg.matrix_power(w, t) @ x) for t in range(12)]
    assert (away <= contraction(w) ** np.arange(12) * away[0] + 1e-12).all()


@every_graph
def test_messages_are_counted_by_edges(graph):
    per_rank = {
        "complete": 7,
        "ring": 2,
        "torus": 3,  # 2 x 4: the two ways along a side of 2 are one
        "hypercube": 3,
        "exponential": 3,
        "path": 14 / 8,
        "star": 14 / 8,
    }
    assert edges(find(graph).matrix(8)) == per_rank[graph] * 8
    assert edges(find(graph).matrix(1)) == 0
    assert edges(find(graph).matrix(2)) == 2


@pytest.mark.parametrize("n", [3, 5, 6, 7, 12])
def test_a_hypercube_names_the_nearest_numbers_of_ranks(n):
    with pytest.raises(ConfigurationError, match=f"found {n} ranks: use [248] or (4|8|16) ranks"):
        find("hypercube").matrix(n)


def test_two_ranks_of_any_graph_average():
    for graph in (*CLOSED, *OTHERS):
        if allowed(graph, 2):
            assert np.allclose(find(graph).matrix(2), 0.5)


def test_metropolis_weights_are_doubly_stochastic_on_any_graph():
    rng = np.random.default_rng(1)
    for n in (1, 2, 3, 9):
        upper = np.triu(rng.random((n, n)) < 0.5, 1)
        w = metropolis(upper | upper.T)
        assert np.allclose(w.sum(axis=0), 1)
        assert np.array_equal(w, w.T)
        assert w.min() >= 0


def test_components_are_those_of_either_direction():
    w = np.eye(6)
    w[0, 3] = w[4, 1] = 0.5
    assert components(w) == [[0, 3], [1, 4], [2], [5]]


SWAP = np.array([[0.0, 1.0], [1.0, 0.0]])
SKEW = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]])  # circulant: normal
ODD = np.array(
    [[0.4, 0.2, 0.4, 0.0], [0.3, 0.4, 0.0, 0.3], [0.2, 0.4, 0.4, 0.0], [0.1, 0, 0.2, 0.7]]
)


@pytest.mark.parametrize(
    ("w", "says", "remedy"),
    [
        (SWAP, "periodic", "diagonal"),
        (np.roll(np.eye(5), 1, axis=0), "periodic", "diagonal"),
        (np.eye(3), r"disconnected: nothing links \{0\}, \{1\}, \{2\}", "add an edge"),
        (np.kron(np.eye(2), np.full((2, 2), 0.5)), r"\{0, 1\}, \{2, 3\}", "add an edge"),
        (np.array([[0.5, 0.4], [0.5, 0.5]]), "row 0 adds up to 0.9", "Metropolis"),
        (np.array([[0.9, 0.1], [0.5, 0.5]]), "column 0 adds up to 1.4", "Metropolis"),
        (np.array([[1.5, -0.5], [-0.5, 1.5]]), "weight -0.5 in row 0, column 1", "at least 0"),
        (np.array([[np.nan, 0.5], [0.5, 0.5]]), "weight nan in row 0, column 0", "at least 0"),
        (ODD, "neither symmetric nor normal", r"\(W \+ W\^T\) / 2"),
    ],
)
def test_a_matrix_that_gossip_cannot_use_is_refused_with_reason_and_remedy(w, says, remedy):
    with pytest.raises(ConfigurationError, match=says) as refusal:
        check_mixing([w], "mine")
    assert refusal.match(remedy)
    assert refusal.match(f"topology mine on {len(w)} ranks")


def test_a_normal_matrix_may_be_one_way():
    check_mixing([SKEW], "mine")
    assert not np.allclose(SKEW, SKEW.T)
    assert np.allclose(ODD.sum(axis=0), 1)  # the refused one is doubly stochastic
    assert np.allclose(ODD.sum(axis=1), 1)


# drawn at random, changing, of two levels, one way


@pytest.mark.parametrize("graph", OTHERS)
def test_the_other_graphs_mix_or_share_on_any_number_of_ranks(graph):
    check = check_sharing if graph.startswith("directed") else check_mixing
    for n in filter(lambda n: allowed(graph, n), SIZES):
        matrices = cycle(find(graph), n)
        check(matrices, graph)
        assert all((np.diagonal(w) > 0).all() for w in matrices), n
        assert all(
            np.array_equal(*pair) for pair in zip(matrices, cycle(find(graph), n), strict=True)
        )


@pytest.mark.parametrize(
    "graph", [graph for graph in OTHERS if "random" in graph or "erdos" in graph]
)
def test_a_drawing_follows_from_its_seed_and_from_nothing_else(graph):
    n = 12
    first = find(graph).matrix(n)
    find(graph).matrix(n + 2)
    assert np.array_equal(find(graph).matrix(n), first)
    other = find(f"{graph.partition(';')[0]};seed=5").matrix(n)
    assert not np.array_equal(other, first)


@pytest.mark.parametrize("degree", [2, 3, 4, 7, 15, 20, 28])
def test_everyone_has_as_many_neighbours_as_asked_for(degree):
    for seed in range(3):
        w = find(f"random_regular:{degree};seed={seed}").matrix(30)
        linked = (w > 0) & ~np.eye(30, dtype=bool)
        assert (linked.sum(axis=0) == degree).all()
        assert np.array_equal(w, w.T)
        assert np.allclose(w[linked], 1 / (degree + 1))
        assert len(components(linked)) == 1


def test_drawn_links_are_everywhere_alike():
    """Over many seeds any two ranks are linked as often: 4 of 11 times."""
    total = sum(find(f"random_regular:4;seed={seed}").matrix(12) > 0 for seed in range(300))
    apart = total[~np.eye(12, dtype=bool)] / 300
    assert abs(apart.mean() - 4 / 11) < 1e-12
    assert apart.min() > 4 / 11 - 0.12
    assert apart.max() < 4 / 11 + 0.12


def test_a_random_regular_graph_mixes_as_fast_as_its_degree_allows():
    for seed in range(3):
        found = contraction(find(f"random_regular:4;seed={seed}").matrix(256))
        assert found == pytest.approx((1 + 2 * 3**0.5) / 5, abs=0.02)
    assert contraction(find("ring").matrix(256)) > 0.999


@pytest.mark.parametrize(
    ("text", "n", "says"),
    [
        ("random_regular:3", 7, "use random_regular:2 or random_regular:4"),
        ("random_regular:8", 8, "use random_regular:6 or random_regular:7"),
        ("random_regular:1", 4, "use random_regular:2 or random_regular:3"),
        ("random_regular:4", 3, "use random_regular:2"),
        ("random_regular:4", 2, "use random_regular:1"),
        ("erdos_renyi:0.01", 40, r"well above ln n / n = 0.092, or random_regular:4"),
    ],
)
def test_graphs_that_are_not_there_are_refused_with_the_nearest(text, n, says):
    with pytest.raises(ConfigurationError, match=says):
        find(text).matrix(n)


def test_one_peer_a_clock_is_the_exact_average_for_powers_of_two_only():
    for n in (2, 4, 8, 16, 64):
        assert np.allclose(find("one_peer_exponential").matrix(n), 1 / n, rtol=0, atol=1e-15)
        clocks = cycle(find("one_peer_exponential"), n)
        assert len(clocks) == n.bit_length() - 1
        assert all(edges(w) == n for w in clocks)
        for t, w in enumerate(clocks):
            assert all(w[i, (i - 2**t) % n] == 0.5 for i in range(n))
    for n in (3, 5, 6, 7, 12):
        assert 0 < contraction(find("one_peer_exponential").matrix(n)) < 0.5
    assert contraction(cycle(find("one_peer_exponential"), 6)[1]) == pytest.approx(1)


@pytest.mark.parametrize(("group", "n"), [(4, 16), (4, 14), (5, 11), (3, 7), (4, 5), (2, 4)])
def test_two_levels_are_dense_within_and_rings_between(group, n):
    w = find(f"two_level:{group}").matrix(n)
    linked = (w > 0) & ~np.eye(n, dtype=bool)
    node, place = np.divmod(np.arange(n), group)
    within, nodes = node[:, None] == node, node[-1] + 1
    assert linked[within & ~np.eye(n, dtype=bool)].all()
    near = np.isin((node[:, None] - node) % nodes, (1, nodes - 1))
    assert np.array_equal(linked & ~within, near & (place[:, None] == place))
    assert np.array_equal(w, w.T)
    assert (linked & ~within).sum(axis=1).max() <= 2


def test_two_levels_mix_faster_than_a_ring_by_the_size_of_a_node():
    """|W - J| = (G + 2 cos(2 pi / N)) / (G + 2) on N whole nodes."""
    for group, nodes in ((4, 8), (8, 4), (2, 16)):
        found = contraction(find(f"two_level:{group}").matrix(group * nodes))
        assert found == pytest.approx((group + 2 * np.cos(2 * np.pi / nodes)) / (group + 2))


def test_two_levels_are_a_ring_and_a_complete_graph_at_the_ends():
    for n in (1, 2, 3, 7):
        assert np.allclose(find("two_level:1").matrix(n), find("ring").matrix(n))
        assert np.allclose(find(f"two_level:{n}").matrix(n), find("complete").matrix(n))


def test_links_one_way_are_shared_out_and_not_averaged():
    p = find("directed_random:0.3").matrix(9)
    assert np.allclose(p.sum(axis=0), 1)
    assert not np.allclose(p.sum(axis=1), 1, atol=0.1)
    assert len({int(heard) for heard in (p > 0).sum(axis=0)}) > 2  # irregular
    with pytest.raises(ConfigurationError, match="use Metropolis .* or push_sum"):
        check_mixing([p], "mine")


# weights


@pytest.mark.parametrize("graph", ["ring", "hypercube", "complete", "star"])
@pytest.mark.parametrize("n", [1, 2, 4, 8, 16, 64])
def test_no_other_weight_of_all_links_is_faster(graph, n):
    (w,) = matrices_of(graph, "fastest", n)
    check_mixing([w], graph)
    linked = (find(graph).matrix(n) > 0) & ~np.eye(n, dtype=bool)
    laplacian = np.diag(linked.sum(axis=0)) - linked
    assert not w[~linked & ~np.eye(n, dtype=bool)].any()
    alphas = np.linspace(0, 1 / max(1, linked.sum(axis=0).max()), 2001)
    best = min(contraction(np.eye(n) - alpha * laplacian) for alpha in alphas[:: 1 + n // 8])
    assert contraction(w) <= best + 1e-12
    assert contraction(w) <= contraction(find(graph).matrix(n)) + 1e-12


@pytest.mark.parametrize("n", [5, 8, 31])
def test_on_a_ring_the_fastest_is_as_fast_as_its_closed_form_says(n):
    """lam = (l_max - l_1) / (l_max + l_1) of the Laplacian."""
    ends = find("ring").spectrum(n)
    (w,) = matrices_of("ring", "fastest", n)
    assert contraction(w) == pytest.approx((ends[1] - ends[0]) / (ends[1] + ends[0]), abs=1e-12)
    laplacian = np.eye(n) - w
    found = np.linalg.eigvalsh(laplacian / -w[0, 1] * -1)
    assert found[1] == pytest.approx(ends[0], abs=1e-12)
    assert found[-1] == pytest.approx(ends[1], abs=1e-12)


@pytest.mark.parametrize("graph", ["exponential", "directed_random:0.3", "one_peer_exponential"])
def test_metropolis_weights_link_both_ways(graph):
    for n in (1, 2, 5, 8):
        for w, own in zip(matrices_of(graph, "metropolis", n), cycle(find(graph), n), strict=True):
            assert np.array_equal(w, w.T)
            assert np.array_equal(w > 0, (own > 0) | (own.T > 0))
        check_mixing(matrices_of(graph, "metropolis", n), graph)


def test_metropolis_weights_are_those_of_graphs_that_have_them():
    for graph in ("path", "star", "ring", "two_level:3", "random_regular:4"):
        assert np.allclose(*matrices_of(graph, "metropolis", 9), find(graph).matrix(9), atol=1e-15)


@pytest.mark.parametrize("graph", ["torus", "exponential", "path", "two_level:2", "./mine.txt"])
def test_weights_without_a_closed_form_are_refused(graph, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "0 1\n1 2\n2 3\n", "mine.txt")
    with pytest.raises(ConfigurationError, match=r"\(complete, hypercube, ring, star\)"):
        matrices_of(graph, "fastest", 4)
    with pytest.raises(ConfigurationError, match="graph, metropolis, fastest; found 'slowest'"):
        matrices_of(graph, "slowest", 4)


@pytest.mark.parametrize("graph", [*CLOSED, *(one for one in OTHERS if "directed" not in one)])
def test_large_matrices_take_milliseconds(graph):
    find(graph).matrix(256)
    start = perf_counter()
    cycle(find(graph), 256)
    assert perf_counter() - start < 0.1  # a millisecond or two, on a machine that has time


# files


def written(tmp_path, text, name="graph.txt"):
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return str(path)


def test_a_list_of_edges_gets_metropolis_weights(tmp_path):
    path = written(tmp_path, "# a path of four\n0 1\n\n2 1  # in any order\n2 3\n")
    assert np.allclose(find(path).matrix(4), find("path").matrix(4))
    assert str(find(path)) == path


@pytest.mark.parametrize("name", ["w.npy", "w.txt"])
def test_a_matrix_is_taken_as_it_is(tmp_path, name):
    w, path = find("exponential").matrix(6), str(tmp_path / name)
    np.save(path, w) if name == "w.npy" else np.savetxt(path, w, fmt="%.17g")
    assert np.array_equal(find(path).matrix(6), w)


def test_two_ranks_may_have_a_matrix_with_decimal_points(tmp_path):
    assert np.array_equal(
        find(written(tmp_path, "0.75 0.25\n.25 .75")).matrix(2), [[0.75, 0.25], [0.25, 0.75]]
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("0 1\n1 2\n2 1\n", r"line 3: the edge 2 1 is there twice, first on line 2: take one out"),
        ("0 1\n1 1\n", r"line 2: the edge 1 1 links a rank with itself: take it out"),
        ("0 1\n1 4\n", r"line 2: the edge 1 4 leaves the graph: the 4 ranks are numbered 0 .. 3"),
        ("0 1\n1 -1\n", r"the edge 1 -1 leaves the graph"),
        ("0 1\n1 2 3\n", r"line 1: expected the 4 weights of one rank \(or an edge"),
        ("0.5 0.5 0 0\nzero one two three\n", r"line 2: .*'zero one two three'"),
        ("1 0 0\n0 1 0\n0 0 1\n", r"line 1: expected the 4 weights"),
        ("1 0 0 0\n0 1 0 0\n", r"shape \(2, 4\), but 4 ranks need \(4, 4\)"),
        ("0 1\n2 3\n", r"disconnected: nothing links \{0, 1\}, \{2, 3\}"),
        ("", r"disconnected: nothing links \{0\}, \{1\}, \{2\}, \{3\}"),
        ("0 1 0 0\n1 0 0 0\n0 0 0 1\n0 0 1 0\n", "disconnected"),
        ("0.4 0.6 0 0\n0 0.4 0.6 0\n0 0 0.4 0.6\n0 0.6 0 0.4\n", "column 0 adds up to 0.4"),
    ],
)
def test_a_file_that_is_no_graph_is_refused_by_line(tmp_path, text, says):
    path = written(tmp_path, text)
    with pytest.raises(ConfigurationError, match=says):
        check_mixing([find(path).matrix(4)], path)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    for path in (str(tmp_path / "none.txt"), str(tmp_path / "none.npy"), str(tmp_path)):
        with pytest.raises(ConfigurationError, match="cannot be read: .*every rank reads it"):
            find(path).matrix(4)
    for content in (b"", b"\xff\xfe no text", b"\x93NUMPY"):
        for name in ("broken.npy", "broken.txt"):
            (tmp_path / name).write_bytes(content)
            if content or name == "broken.npy":
                with pytest.raises(ConfigurationError):
                    find(str(tmp_path / name)).matrix(4)


def test_a_matrix_of_another_size_is_named(tmp_path):
    path = str(tmp_path / "w.npy")
    np.save(path, np.full((3, 3), 1 / 3))
    with pytest.raises(ConfigurationError, match=r"shape \(3, 3\), but 4 ranks need \(4, 4\)"):
        find(path).matrix(4)
    for no_numbers in (np.array(["a", "b"]), np.full((2, 2), 0.5 + 0j)):
        np.save(path, no_numbers)
        with pytest.raises(ConfigurationError, match="cannot be read: Cannot cast"):
            find(path).matrix(2)


def test_ranks_that_read_different_files_can_tell(tmp_path):
    here, there = written(tmp_path, "0 1\n1 2\n", "a.txt"), written(tmp_path, "0 1\n0 2\n", "b.txt")
    same, missing = written(tmp_path, "1 2\n0 1\n", "c.txt"), str(tmp_path / "none.txt")
    said = [Gossip(path).agreed(3) for path in (here, there, same, missing)]
    assert said[0] == said[2]
    assert len(set(said)) == 3
    assert "cannot be read" in said[3]


# the text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("rign",), "no topology is called 'rign'"),
        ((4,), "no topology is called '4'"),
        (("ring", 0.0), r"gamma in \(0, 1\]"),
        (("ring", 1.5), r"gamma in \(0, 1\]"),
        (("ring", "much"), "gamma=0.2"),
        (("ring", 1.0, "act"), "atc and cta"),
        (("random_regular:0",), "at least 1"),
        (("random_regular:2.5",), "whole number"),
        (("random_regular:4;seed=-1",), "seed of at least 0"),
        (("random_regular",), "random_regular takes degree, seed"),
        (("erdos_renyi:0",), r"links in \(0, 1\]"),
        (("erdos_renyi:0.5;seed=a",), "seed"),
        (("two_level:0",), "write two_level:4"),
        (("directed_random:-1",), r"in \[0, 1\]"),
    ],
)
def test_words_that_gossip_does_not_know_are_refused(arguments, says):
    with pytest.raises(ConfigurationError, match=says):
        Gossip(*arguments)


def test_gossip_prints_what_it_parses():
    assert str(Gossip("ring")) == "gossip:ring"
    assert (
        str(Gossip("./graphs/mine.txt", 0.2, "cta"))
        == "gossip:./graphs/mine.txt,gamma=0.2,order=cta"
    )
