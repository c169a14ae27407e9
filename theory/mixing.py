"""Mixing matrices W (row i: the weights with which worker i averages) and how fast they mix.

lam = |W - J|_2, J = 1 1^T / n, has a closed form for every graph that a bound may claim. Mostly it
comes from the ends of the Laplacian's spectrum (`theory.laplacians`); of two graphs whose links go
one way, and look alike from every worker, it comes from their waves:

exponential             with m = log2 n rounded up, z^n = 1, z != 1: the largest of
                        |1 + z + z^2 + z^4 + .. + z^(2^(m-1))| / (1 + m)
one_peer_exponential    what a turn of m mixings does: (1 + z)/2 (1 + z^2)/2 .. is, with M = 2^m,
                        (1 - z^M) / (M (1 - z)), and the largest modulus is that of the first wave,
                        sin(pi (M - n)/n) / (M sin(pi/n)). It is 0, so W = J, if and only if n = M

Why of the first: for wave k, k <= n/2, it is |sin(q k a) / sin(k a)| / M with a = pi/n and q the
smaller of M - n and 2 n - M. For k = 1 the ratio is at least 2 q/pi; it falls until k = n/q, and
is at most 1/sin(pi/q) <= q/2 from there on.

After the graph, with a comma before each, a text may say `weights=fastest`, the best weight that
all links may have alike, and `gamma=0.5`, (1 - gamma) I + gamma W instead of W. With 1/2 that is
the lazy W that D2 takes, as it has no negative eigenvalues. Other matrices are for runs that break
a claim.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import pi, sin
from typing import Any

import numpy as np
import sympy as sp

from theory.laplacians import ends, fastest, sides
from theory.testbed import Floats

__all__ = ["distance_from_identity", "lam", "least", "matrix", "measured_lam", "one_peer"]


def _exponential(n: int) -> Any:
    offsets = 2 ** np.arange((n - 1).bit_length())
    angles = 2 * np.pi / n * np.outer(np.arange(1, n), offsets)
    return (1 + np.exp(1j * angles).sum(axis=1)) / (1 + len(offsets))


def _of_a_turn(n: int) -> float:
    """Return lam of one_peer_exponential."""
    whole = 1 << (n - 1).bit_length()
    return sin(pi * (whole - n) / n) / (whole * sin(pi / n)) if n > 1 else 0.0


def _read(topology: str, n: int) -> tuple[str, sp.Expr]:
    """Return the graph and the share s of (1 - s) I + s W, W with the usual weights."""
    graph, *options = topology.split(",")
    share = sp.Integer(1)
    for option in options:
        name, _, value = option.partition("=")
        if name == "gamma" and graph != "one_peer_exponential":  # of one mixing, not of a turn
            share *= sp.Rational(value)
        elif option == "weights=fastest":
            some = max(n, 2)  # one worker has no links, but is no less known
            share *= fastest(graph, some) * (1 + ends(graph, some).degree)
        else:
            raise ValueError(f"no closed form of lam for {topology!r}")
    return graph, share


def lam(topology: str, n: int) -> float:
    """Return |W - J|_2 of a graph of n workers by its closed form.

    Raises
    ------
    ValueError
        If the topology has no closed form here.
    """
    if topology == "one_peer_exponential":
        return _of_a_turn(n)
    graph, share = _read(topology, n)
    if graph == "exponential":
        found = np.abs(1 + float(share) * (_exponential(n) - 1))
        return float(found.max(initial=0.0))
    eigenvalues = ends(graph, max(n, 2)).eigenvalues
    return max(abs(float(1 + share * (each - 1))) for each in eigenvalues) if n > 1 else 0.0


def least(topology: str, n: int) -> float:
    """Return the least eigenvalue of a symmetric W by its closed form; ValueError as `lam`."""
    graph, share = _read(topology, n)
    return float(1 + share * (ends(graph, n).eigenvalues[1] - 1)) if n > 1 else 1.0


def matrix(topology: str, n: int) -> Floats:
    """Return W (n, n).

    Parameters
    ----------
    topology : str
        complete (1/n), ring (1/3 for itself and both neighbours; n = 2: 1/2), path and star
        (Metropolis: 1/3 and 1/n an edge), torus (as square as possible), hypercube (n a power of
        two), two_level:G (nodes of G, all hear all in a node and two outside), exponential (one
        way: 1, 2, 4, ... before it), these four with equal weights, one_peer_exponential (a whole
        turn of it), alone (W = I), lopsided (the ring, but worker 0 keeps 2/3 for itself: rows add
        up to 1, columns do not); with options as above.
    n : int
        Workers, at least 1.

    Raises
    ------
    ValueError
        If the topology is unknown, or n workers cannot form it.
    """
    graph, share = _read(topology, n)
    name, *arguments = graph.split(":")
    if name not in _MATRICES:
        raise ValueError(f"no topology {topology!r}")
    eye, w = np.eye(n), _MATRICES[name](n, *map(int, arguments))
    return w if share == 1 else eye + float(share) * (w - eye)


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


def _product(first: Floats, second: Floats) -> Floats:
    """Return equal weights on the product of two graphs, in which the second one's are together."""
    return _equal(np.kron(first, np.eye(len(second))) + np.kron(np.eye(len(first)), second))


def _torus(n: int) -> Floats:
    a, b = sides(n)
    return _product(_cycle(a), _cycle(b))


def _two_level(n: int, group: int) -> Floats:
    group = min(group, n)
    if group < 1 or n % group:
        raise ValueError(f"{n} workers are no whole nodes of {group}")
    return _product(_cycle(n // group), np.ones((group, group)))


def _cube(n: int) -> Floats:
    if n & (n - 1):
        raise ValueError(f"a hypercube has 2^m corners, not {n}")
    differ = np.bitwise_xor.outer(np.arange(n), np.arange(n))
    return _equal((differ & (differ - 1)) == 0)


def _exponential_matrix(n: int) -> Floats:
    offsets = range((n - 1).bit_length())
    return _equal(sum((np.roll(np.eye(n), -(2**j), axis=1) for j in offsets), np.zeros((n, n))))


def one_peer(n: int) -> tuple[Floats, ...]:
    """Return the W (n, n) of one turn: in the j-th all average with the worker 2^j before them."""
    eye, turn = np.eye(n), range(max(1, (n - 1).bit_length()))
    return tuple((eye + np.roll(eye, -(2**j), axis=1)) / 2 for j in turn)


def _lopsided(n: int) -> Floats:
    w = _equal(_cycle(n))
    w[0, 0] += 1
    w[0] /= w[0].sum()
    return w


_MATRICES: dict[str, Callable[..., Floats]] = {
    "complete": lambda n: np.full((n, n), 1 / n),
    "ring": lambda n: _equal(_cycle(n)),
    "path": lambda n: np.eye(n) - _laplacian([(i, i + 1) for i in range(n - 1)], n) / min(n, 3),
    "star": lambda n: np.eye(n) - _laplacian([(0, i) for i in range(1, n)], n) / n,
    "torus": _torus,
    "hypercube": _cube,
    "two_level": _two_level,
    "exponential": _exponential_matrix,
    "one_peer_exponential": lambda n: reduce(np.matmul, one_peer(n)),
    "alone": np.eye,
    "lopsided": _lopsided,
}


def measured_lam(w: Floats) -> float:
    """Return |W - J|_2 of any matrix (n, n), by its singular values."""
    return float(np.linalg.norm(w - 1 / len(w), 2))


def distance_from_identity(w: Floats) -> float:
    """Return |I - W|_2, the bW of compressed gossip."""
    return float(np.linalg.norm(np.eye(len(w)) - w, 2))
