"""Closed forms of lam against singular values."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest

from theory.laplacians import ENDS, ends, fastest, sides
from theory.mixing import distance_from_identity, lam, least, matrix, measured_lam, one_peer
from theory.turns import cycle

NAMED = [graph for graph in ENDS if graph != "two_level"]
LEVELS = [f"two_level:{group}" for group in (1, 2, 3, 4, 8)]
TURN = "one_peer_exponential"
GRAPHS = [*NAMED, "exponential"]
ALL = [*GRAPHS, TURN, *LEVELS, *(f"{graph},weights=fastest" for graph in (*NAMED, *LEVELS))]
LAZY = [f"{text},gamma={gamma}" for text in ALL if text != TURN for gamma in (0.5, 0.8)]


def formed(topology: str, n: int) -> bool:
    """Whether n workers can form the graph; if not, check that they are told so."""
    group = int(topology.split(",")[0].partition(":")[2] or 1)
    if (topology.startswith("hypercube") and n & (n - 1)) or n % min(group, n):
        for refuses in (matrix, lam):
            with pytest.raises(ValueError, match="corners|whole nodes"):
                refuses(topology, n)
        return False
    return True


@pytest.mark.parametrize("topology", [*ALL, *LAZY])
def test_closed_forms(topology: str) -> None:
    for n in (*range(1, 33), 48, 49, 63, 64):
        if not formed(topology, n):
            continue
        w = matrix(topology, n)
        assert lam(topology, n) == pytest.approx(measured_lam(w), abs=1e-12), n
        np.testing.assert_allclose(w.sum(axis=0), 1)
        np.testing.assert_allclose(w.sum(axis=1), 1)
        np.testing.assert_allclose(w @ w.T, w.T @ w, atol=1e-14)  # normal, so lam bounds all powers
        assert w.min() > -1e-15
        if "exponential" not in topology:
            np.testing.assert_allclose(w, w.T, atol=1e-15)
            values = np.linalg.eigvalsh(w)
            assert distance_from_identity(w) == pytest.approx(1 - values[0], abs=1e-12)
            assert least(topology, n) == pytest.approx(values[0], abs=1e-12)
            assert np.abs(values[:-1]).max(initial=0) == pytest.approx(lam(topology, n), abs=1e-12)


@pytest.mark.parametrize("graph", [*NAMED, *LEVELS])
def test_both_ends_are_those_of_the_spectrum(graph: str) -> None:
    """lam alone would not tell the end that it does not come from."""
    for n in filter(lambda n: formed(graph, n), range(2, 34)):
        linked = (matrix(graph, n) > 0) & ~np.eye(n, dtype=bool)
        degrees = linked.sum(axis=1)
        found = np.linalg.eigvalsh(np.diag(degrees) - linked.astype(float))[[1, -1]]
        slow, top, degree = map(float, ends(graph, n))
        assert (slow, top) == pytest.approx(tuple(found), abs=1e-12)
        assert degree == degrees.max()


@pytest.mark.parametrize("graph", [*NAMED, *LEVELS])
def test_no_other_weight_of_all_links_is_faster(graph: str) -> None:
    for n in filter(lambda n: formed(graph, n), (2, 3, 5, 8, 12, 16)):
        slow, top, degree = map(float, ends(graph, n))
        weights = np.linspace(0, 1 / degree, 4001)
        best = np.maximum(abs(1 - weights * slow), abs(1 - weights * top)).min()
        assert lam(f"{graph},weights=fastest", n) <= best + 1e-12
        assert lam(f"{graph},weights=fastest", n) <= lam(graph, n) + 1e-12
        assert 0 < fastest(graph, n) <= 1 / degree + 1e-15


def test_a_turn_of_one_peer_a_time_is_exact_for_powers_of_two_only() -> None:
    for n in range(1, 257):
        m = (n - 1).bit_length()
        assert (lam(TURN, n) == 0) == (n == 2**m)
        assert lam(TURN, n) <= 1 / 3 + 1e-15  # of three workers; all are within it
    for n in range(1, 65):
        assert cycle(TURN, n) is not None
        turn = reduce(np.matmul, one_peer(n))
        np.testing.assert_array_equal(turn, matrix(TURN, n))
        values = np.abs(np.linalg.eigvals(turn))
        assert np.sort(values)[:-1].max(initial=0) == pytest.approx(lam(TURN, n), abs=1e-9)


def test_lazy_is_without_negative_eigenvalues_and_slower_where_there_were_none() -> None:
    for n in (3, 4, 8, 9, 32):
        for graph in ("ring", "star", "torus", "path"):
            assert np.linalg.eigvalsh(matrix(f"{graph},gamma=0.5", n)).min() > -1e-15
            second = float(ends(graph, n).eigenvalues[0])
            assert lam(f"{graph},gamma=0.5", n) == pytest.approx((1 + second) / 2)
    assert lam("ring,gamma=0.5", 2) == 0.5
    assert lam("ring,gamma=1", 7) == lam("ring", 7)


def test_two_levels_of_one_kind_are_a_ring_or_complete() -> None:
    for n in (1, 2, 3, 7, 8):
        assert lam("two_level:1", n) == lam("ring", n)
        assert lam(f"two_level:{n}", n) == lam(f"two_level:{n + 3}", n) == 0
    # three nodes of two: what differs within a node is slower than what differs between nodes
    assert lam("two_level:2", 6) == pytest.approx(1 / 2)
    for group, nodes in ((4, 8), (8, 4), (2, 16)):
        slow = (group + 2 * np.cos(2 * np.pi / nodes)) / (group + 2)
        assert lam(f"two_level:{group}", group * nodes) == pytest.approx(slow)


@pytest.mark.parametrize("topology", [*ALL, *LAZY])
def test_a_closed_form_of_another_number_or_of_a_bent_matrix_does_not_fit(topology: str) -> None:
    """Negative control: one worker more, or one weight moved, is noticed."""
    n, other = (24, 48) if ":" in topology else (16, 32 if "cube" in topology else 17)
    w = matrix(topology, n)
    left, _, right = np.linalg.svd(w - 1 / n)
    for size in (1e-8, 1e-2):
        bent = w + size * np.outer(left[:, 0], right[0])
        assert abs(measured_lam(bent) - lam(topology, n)) > size / 2
    if "complete" not in topology:  # which mixes alike, however large
        assert abs(lam(topology, other) - measured_lam(w)) > 1e-4


def test_a_torus_is_as_square_as_possible_and_a_ring_where_n_is_prime() -> None:
    assert [sides(n) for n in (1, 2, 9, 12, 13, 16)] == [
        (1, 1), (1, 2), (3, 3), (3, 4), (1, 13), (4, 4)
    ]  # fmt: skip
    assert lam("torus", 13) == pytest.approx(lam("ring", 13), abs=1e-14)
    assert (matrix("torus", 12)[matrix("torus", 12) > 0] == 1 / 5).all()


def test_odd_exponential_graphs_mix_faster_than_even_ones() -> None:
    for n in range(3, 65):
        m = (n - 1).bit_length()
        bound = (m - 1) / (m + 1)
        assert lam("exponential", n) <= bound + 1e-14
        assert (lam("exponential", n) < bound - 1e-9) == (n % 2 == 1)


@pytest.mark.parametrize("topology", GRAPHS)
def test_a_closed_form_of_another_graph_does_not_fit(topology: str) -> None:
    """Negative control: at n = 16 no two of these graphs mix equally fast, but for one pair."""
    equal = {other for other in GRAPHS if abs(lam(other, 16) - lam(topology, 16)) < 1e-9}
    same = {"hypercube", "exponential", "torus"}  # (m - 1) / (m + 1) = 3/5 twice, 4 x 4: 3/5 too
    assert equal == (same if topology in same else {topology})


def test_a_bipartite_ring_needs_absolute_values() -> None:
    """Negative control: without them a ring without self weight seems to mix."""
    eye = np.eye(8)
    w = (np.roll(eye, 1, axis=0) + np.roll(eye, -1, axis=0)) / 2
    assert np.sort(np.linalg.eigvalsh(w))[-2] < 0.71
    assert measured_lam(w) == pytest.approx(1)


def test_broken_matrices_break_one_promise_each() -> None:
    lopsided = matrix("lopsided", 8)
    np.testing.assert_allclose(lopsided.sum(axis=1), 1)
    assert not np.allclose(lopsided.sum(axis=0), 1)
    assert measured_lam(matrix("alone", 8)) == pytest.approx(1)
    unknown = ("lopsided", "ring:3", "ring,weights=metropolis", f"{TURN},gamma=0.5")
    for text in (*unknown, "exponential,weights=fastest"):
        for n in (1, 2, 8):
            with pytest.raises(ValueError, match="no closed form"):
                lam(text, n)
    with pytest.raises(ValueError, match="no closed form"):
        matrix(f"{TURN},gamma=0.5", 8)
    with pytest.raises(ValueError, match="no topology"):
        matrix("star of rings", 8)
