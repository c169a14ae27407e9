"""Mixing matrices W (row i: the weights with which worker i averages) and how fast they mix.

lam = |W - J|_2, J = 1 1^T / n, has a closed form for every graph that a bound may claim
(`CLOSED_FORMS`, sympy expressions in n); the other matrices are for runs that break a claim.
"""

from __future__ import annotations

import numpy as np
import sympy as sp

from theory.symbols import symbol
from theory.testbed import Floats

__all__ = ["CLOSED_FORMS", "distance_from_identity", "lam", "matrix", "measured_lam"]

_n = symbol("n")
_slowest = (1 + 2 * sp.cos(2 * sp.pi / _n)) / 3
_fastest = (1 + 2 * sp.cos(2 * sp.pi * sp.floor(_n / 2) / _n)) / 3
CLOSED_FORMS: dict[str, sp.Expr] = {
    "complete": sp.Integer(0),
    "ring": sp.Piecewise((0, _n < 4), (sp.Max(_slowest, sp.Abs(_fastest)), True)),
    "hypercube": sp.Max(0, (sp.log(_n, 2) - 1) / (sp.log(_n, 2) + 1)),
}


def lam(topology: str, n: int) -> float:
    """Return |W - J|_2 of a graph of n workers by its closed form.

    Raises
    ------
    ValueError
        If the topology has no closed form here.
    """
    if topology not in CLOSED_FORMS:
        raise ValueError(f"no closed form of lam for {topology!r}")
    return float(CLOSED_FORMS[topology].subs(_n, n))


def matrix(topology: str, n: int) -> Floats:
    """Return W (n, n).

    Parameters
    ----------
    topology : str
        complete (1/n), ring (1/3 for itself and both neighbours; n = 2: 1/2), hypercube (equal
        weights, n a power of two), alone (W = I), lopsided (the ring, but worker 0 keeps 2/3
        for itself: rows add up to 1, columns do not).
    n : int
        Workers, at least 1.

    Raises
    ------
    ValueError
        If the topology is unknown, or a hypercube has no 2^m corners.
    """
    eye = np.eye(n)
    if topology == "complete":
        return np.full((n, n), 1 / n)
    if topology == "alone":
        return eye
    if topology == "hypercube":
        m = n.bit_length() - 1
        if n != 1 << m:
            raise ValueError(f"a hypercube has 2^m corners, not {n}")
        ranks = np.arange(n)
        cube: Floats = (eye + sum(eye[ranks ^ (1 << j)] for j in range(m))) / (m + 1)
        return cube
    if topology not in ("ring", "lopsided"):
        raise ValueError(f"no topology {topology!r}")
    if n <= 2:
        w = np.full((n, n), 1 / n)
    else:
        w = (eye + np.roll(eye, 1, axis=1) + np.roll(eye, -1, axis=1)) / 3
    if topology == "lopsided":
        w[0] = (w[0] + eye[0]) / (w[0] + eye[0]).sum()
    return w


def measured_lam(w: Floats) -> float:
    """Return |W - J|_2 of any matrix (n, n), by its singular values."""
    return float(np.linalg.norm(w - 1 / len(w), 2))


def distance_from_identity(w: Floats) -> float:
    """Return |I - W|_2, the bW of compressed gossip."""
    return float(np.linalg.norm(np.eye(len(w)) - w, 2))
