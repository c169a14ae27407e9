"""Closed forms of lam against singular values."""

from __future__ import annotations

import numpy as np
import pytest

from theory.mixing import CLOSED_FORMS, distance_from_identity, lam, matrix, measured_lam


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 31, 32, 64])
@pytest.mark.parametrize("topology", CLOSED_FORMS)
def test_closed_forms(topology: str, n: int) -> None:
    if topology == "hypercube" and n & (n - 1):
        with pytest.raises(ValueError, match="corners"):
            matrix(topology, n)
        return
    w = matrix(topology, n)
    assert lam(topology, n) == pytest.approx(measured_lam(w), abs=1e-14)
    np.testing.assert_allclose(w, w.T)
    np.testing.assert_allclose(w.sum(axis=0), 1)
    assert distance_from_identity(w) == pytest.approx(1 - np.linalg.eigvalsh(w).min(), abs=1e-14)


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
