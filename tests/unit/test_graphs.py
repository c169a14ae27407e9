"""Graphs: what each mixing matrix is, how fast it mixes, and which are refused with what words."""

from __future__ import annotations

import numpy as np
import pytest

from mpiddl.architecture.gossip import Gossip
from mpiddl.architecture.mixing import check_mixing, components
from mpiddl.architecture.topology import contraction, edges, find, metropolis, topologies
from mpiddl.errors import ConfigurationError
from theory.mixing import lam, matrix

SIZES = (*range(1, 14), 16, 25, 31, 32, 36, 48, 63, 64)
every_graph = pytest.mark.parametrize("graph", list(topologies))


def allowed(graph, n):
    return graph != "hypercube" or n & (n - 1) == 0


@every_graph
def test_a_graph_mixes_as_fast_as_its_closed_form_for_every_number_of_ranks(graph):
    for n in filter(lambda n: allowed(graph, n), SIZES):
        w = find(graph).matrix(n)
        check_mixing([w], graph)
        assert np.allclose(w, matrix(graph, n), rtol=0, atol=1e-15), n
        assert contraction(w) == pytest.approx(lam(graph, n), abs=1e-12), n
        assert (np.diagonal(w) > 0).all()


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
    for graph in topologies:
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
