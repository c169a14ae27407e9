"""Mixing matrices W (row i: the weights with which worker i averages) and how fast they mix.

lam = |W - J|_2, J = 1 1^T / n, has a closed form for every graph that a bound may claim: a sympy
expression in n (`CLOSED_FORMS`), or the largest modulus in a spectrum that is written down by its
characters (`SPECTRA`). The other matrices are for runs that break a claim.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp

from theory.symbols import symbol
from theory.testbed import Floats

__all__ = [
    "CLOSED_FORMS",
    "SPECTRA",
    "distance_from_identity",
    "lam",
    "matrix",
    "measured_lam",
    "sides",
]

_n = symbol("n")
_slowest = (1 + 2 * sp.cos(2 * sp.pi / _n)) / 3
_fastest = (1 + 2 * sp.cos(2 * sp.pi * sp.floor(_n / 2) / _n)) / 3
CLOSED_FORMS: dict[str, sp.Expr] = {
    "complete": sp.Integer(0),
    "ring": sp.Piecewise((0, _n < 4), (sp.Max(_slowest, sp.Abs(_fastest)), True)),
    "path": sp.Piecewise((0, _n < 3), ((1 + 2 * sp.cos(sp.pi / _n)) / 3, True)),
    "star": sp.Piecewise((0, _n < 3), (1 - 1 / _n, True)),
    "hypercube": sp.Max(0, (sp.log(_n, 2) - 1) / (sp.log(_n, 2) + 1)),
}


def sides(n: int) -> tuple[int, int]:
    """Return the sides (a, b) of the most square torus of n workers, a <= b."""
    a = max(side for side in range(1, n + 1) if n % side == 0 and side * side <= n)
    return a, n // a


def _around(side: int) -> tuple[Floats, int]:
    """Return the eigenvalues (side,) of a cycle's adjacency, and its degree: 2, below 3 less."""
    degree = min(side - 1, 2)
    return degree * np.cos(2 * np.pi * np.arange(side) / side), degree


def _torus(n: int) -> Any:
    (along, one), (across, two) = map(_around, sides(n))
    return (1 + along[:, None] + across).reshape(-1) / (1 + one + two)


def _exponential(n: int) -> Any:
    offsets = 2 ** np.arange((n - 1).bit_length())
    angles = 2 * np.pi / n * np.outer(np.arange(n), offsets)
    return (1 + np.exp(1j * angles).sum(axis=1)) / (1 + len(offsets))


SPECTRA: dict[str, Callable[[int], Any]] = {"torus": _torus, "exponential": _exponential}


def lam(topology: str, n: int) -> float:
    """Return |W - J|_2 of a graph of n workers by its closed form.

    Raises
    ------
    ValueError
        If the topology has no closed form here.
    """
    if topology in SPECTRA:  # the first eigenvalue is 1, that of J
        return float(np.abs(SPECTRA[topology](n)[1:]).max(initial=0.0))
    if topology not in CLOSED_FORMS:
        raise ValueError(f"no closed form of lam for {topology!r}")
    return float(CLOSED_FORMS[topology].subs(_n, n))


def matrix(topology: str, n: int) -> Floats:
    """Return W (n, n).

    Parameters
    ----------
    topology : str
        complete (1/n), ring (1/3 for itself and both neighbours; n = 2: 1/2), path and star
        (Metropolis: 1/3 and 1/n an edge), torus (as square as possible), hypercube (n a power of
        two), exponential (one way: 1, 2, 4, ... before it), these three with equal weights, alone
        (W = I), lopsided (the ring, but worker 0 keeps 2/3 for itself: rows add up to 1, columns
        do not).
    n : int
        Workers, at least 1.

    Raises
    ------
    ValueError
        If the topology is unknown, or a hypercube has no 2^m corners.
    """
    if topology not in _MATRICES:
        raise ValueError(f"no topology {topology!r}")
    return _MATRICES[topology](n)


def _equal(heard: Any) -> Floats:
    """Return equal weights for a worker itself and all that it hears, a bool matrix (n, n)."""
    w = np.minimum(np.eye(len(heard)) + (np.asarray(heard) != 0), 1)
    weights: Floats = w / w.sum(axis=1)[:, None]
    return weights


def _cycle(n: int) -> Floats:
    return np.roll(np.eye(n), 1, axis=1) + np.roll(np.eye(n), -1, axis=1)


def _laplacian(edges: list[tuple[int, int]], n: int) -> Floats:
    incidence = np.zeros((n, max(1, len(edges))))
    for column, (i, j) in enumerate(edges):
        incidence[i, column], incidence[j, column] = 1, -1
    return incidence @ incidence.T


def _torus_matrix(n: int) -> Floats:
    a, b = sides(n)
    return _equal(np.kron(_cycle(a), np.eye(b)) + np.kron(np.eye(a), _cycle(b)))


def _cube(n: int) -> Floats:
    if n & (n - 1):
        raise ValueError(f"a hypercube has 2^m corners, not {n}")
    differ = np.bitwise_xor.outer(np.arange(n), np.arange(n))
    return _equal((differ & (differ - 1)) == 0)


def _exponential_matrix(n: int) -> Floats:
    offsets = range((n - 1).bit_length())
    return _equal(sum((np.roll(np.eye(n), -(2**j), axis=1) for j in offsets), np.zeros((n, n))))


def _lopsided(n: int) -> Floats:
    w = _equal(_cycle(n))
    w[0, 0] += 1
    w[0] /= w[0].sum()
    return w


_MATRICES: dict[str, Callable[[int], Floats]] = {
    "complete": lambda n: np.full((n, n), 1 / n),
    "ring": lambda n: _equal(_cycle(n)),
    "path": lambda n: np.eye(n) - _laplacian([(i, i + 1) for i in range(n - 1)], n) / min(n, 3),
    "star": lambda n: np.eye(n) - _laplacian([(0, i) for i in range(1, n)], n) / n,
    "torus": _torus_matrix,
    "hypercube": _cube,
    "exponential": _exponential_matrix,
    "alone": np.eye,
    "lopsided": _lopsided,
}


def measured_lam(w: Floats) -> float:
    """Return |W - J|_2 of any matrix (n, n), by its singular values."""
    return float(np.linalg.norm(w - 1 / len(w), 2))


def distance_from_identity(w: Floats) -> float:
    """Return |I - W|_2, the bW of compressed gossip."""
    return float(np.linalg.norm(np.eye(len(w)) - w, 2))
