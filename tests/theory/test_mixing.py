"""Closed forms of lam against singular values."""

from __future__ import annotations

import numpy as np
import pytest

from theory.mixing import (
    CLOSED_FORMS,
    SPECTRA,
    distance_from_identity,
    lam,
    matrix,
    measured_lam,
    sides,
)

GRAPHS = [*CLOSED_FORMS, *SPECTRA]


@pytest.mark.parametrize("topology", GRAPHS)
def test_closed_forms(topology: str) -> None:
    for n in range(1, 65):
        if topology == "hypercube" and n & (n - 1):
            with pytest.raises(ValueError, match="corners"):
                matrix(topology, n)
            continue
        w = matrix(topology, n)
        assert lam(topology, n) == pytest.approx(measured_lam(w), abs=1e-12), n
        np.testing.assert_allclose(w.sum(axis=0), 1)
        np.testing.assert_allclose(w.sum(axis=1), 1)
        np.testing.assert_allclose(w @ w.T, w.T @ w, atol=1e-14)  # normal, so lam bounds all powers
        assert w.min() >= 0
        if topology != "exponential":
            np.testing.assert_allclose(w, w.T)
            lowest = np.linalg.eigvalsh(w).min()
            assert distance_from_identity(w) == pytest.approx(1 - lowest, abs=1e-12)


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
    with pytest.raises(ValueError, match="no closed form"):
        lam("lopsided", 8)
    with pytest.raises(ValueError, match="no topology"):
        matrix("star of rings", 8)
