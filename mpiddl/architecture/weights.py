"""Weights for the links of a graph: what a rank makes of itself and of those it hears.

`linked` is a bool array (n, n) without a diagonal, [i, j] where i hears j; both ways unless more is
said. Sources: Xiao & Boyd, "Fast linear iterations for distributed averaging", Systems & Control
Letters, 2004;  Boyd, Diaconis, Parrilo & Xiao, "Fastest mixing Markov chain on graphs with
symmetries", SIAM J. Optim., 2009.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

__all__ = [
    "Matrix",
    "contraction",
    "edges",
    "equal_weights",
    "fastest",
    "links",
    "metropolis",
    "shares",
]

Matrix: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]


def links(w: Matrix) -> Any:
    """Return the links of W (n, n), both ways: bool (n, n)."""
    return ((w != 0) | (w.T != 0)) & ~np.eye(len(w), dtype=bool)


def equal_weights(n: int, *neighbours: Any) -> Matrix:
    """Return W (n, n) with equal weights for a rank itself and each of its neighbours.

    Each of `neighbours` is an int array (n,): one that every rank hears. Neighbours that coincide,
    with each other or with the rank, count once.
    """
    w = np.eye(n)
    for heard in neighbours:
        w[np.arange(n), heard] = 1
    weights: Matrix = w / w.sum(axis=1, keepdims=True)
    return weights


def metropolis(linked: Any) -> Matrix:
    """Return Metropolis-Hastings weights: 1 / (1 + the larger degree) along each link.

    Doubly stochastic on any graph, and known without knowing the graph.
    """
    degree = linked.sum(axis=1)
    w: Matrix = np.where(linked, 1 / (1 + np.maximum.outer(degree, degree)), 0.0)
    np.fill_diagonal(w, 1 - w.sum(axis=1))
    return w


def fastest(linked: Any, least: float, most: float) -> Matrix:
    """Return I - alpha Lap, Lap the Laplacian: the fastest on graphs whose links are all alike.

    `least` and `most` are the ends of Lap's spectrum besides the 0. |W - J|_2 is smallest for
    alpha = 2 / (least + most); where a rank would then keep less than nothing of its own, for
    the largest alpha with which it keeps nothing.
    """
    degree = linked.sum(axis=1)
    alpha = min(2 / (least + most), 1 / degree.max())
    w: Matrix = np.where(linked, alpha, 0.0)
    np.fill_diagonal(w, 1 - alpha * degree)
    return w


def shares(linked: Any) -> Matrix:
    """Return P (n, n) for links one way: every rank shares out equally what it has.

    Column j holds the shares of rank j, 1 / (1 + the number that hear it) each: columns add up to
    1, rows only where all are heard by equally many.
    """
    weights = linked + np.eye(len(linked))
    p: Matrix = weights / weights.sum(axis=0)
    return p


def contraction(w: Matrix) -> float:
    """Return lam = |W - J|_2: by how much one mixing shrinks the distance to the mean."""
    return float(np.linalg.norm(w - 1 / len(w), 2))


def edges(w: Matrix) -> int:
    """Return how many messages one mixing takes, all ranks together: weights off the diagonal."""
    return int(np.count_nonzero(w) - np.count_nonzero(np.diagonal(w)))
