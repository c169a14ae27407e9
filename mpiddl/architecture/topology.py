"""Who speaks with whom in gossip: graphs as mixing matrices W, x_i <- sum_j W_ij x_j.

A graph is a file in `graphs/` (its table is there), or a file of the user's: an edge list or the
matrix itself. What W must be is said in mixing.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import numpy as np

from mpiddl.registry import Registry

__all__ = [
    "Matrix",
    "Topology",
    "contraction",
    "cycle",
    "edges",
    "equal_weights",
    "find",
    "metropolis",
    "topologies",
]

Matrix: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]


class Topology(Protocol):
    """A family of graphs, one for each number of ranks that it has a graph for.

    A family whose graphs change from clock to clock has ``matrices(n)`` as well, one for each clock
    of a turn; its `matrix` is what one turn does, their product.
    """

    def matrix(self, n: int) -> Matrix:
        """Return W (n, n); row i holds the weights with which rank i averages.

        Raises
        ------
        ConfigurationError
            If there is no such graph of `n` ranks.
        """


topologies: Registry[Any] = Registry("mpiddl.architecture.graphs", "topology")


def cycle(topology: Topology, n: int) -> tuple[Matrix, ...]:
    """Return the mixing matrices W (n, n) that are used in turn; mostly there is one."""
    matrices: Callable[[int], tuple[Matrix, ...]] | None = getattr(topology, "matrices", None)
    return (topology.matrix(n),) if matrices is None else matrices(n)


def find(graph: str) -> Topology:
    """Return the topology with the registered name `graph`, else the one in the file `graph`.

    Parameters
    ----------
    graph : str
        ``ring``, or a path: it has a dot or a slash in it, as in ``./graph``.

    Raises
    ------
    ConfigurationError
        If it is neither.
    """
    named = graph.partition(":")[0] in topologies
    if named or not ("." in graph or "/" in graph):
        found: Topology = topologies.parse(graph)
        return found
    from mpiddl.architecture.graphs.from_file import FromFile  # only here: most graphs have names

    return FromFile(graph)


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
    """Return Metropolis-Hastings weights: 1 / (1 + the larger degree) along each edge.

    `linked` is a symmetric bool array (n, n) without a diagonal. Source: Xiao & Boyd, "Fast linear
    iterations for distributed averaging", Systems & Control Letters, 2004.
    """
    degree = linked.sum(axis=1)
    w: Matrix = np.where(linked, 1 / (1 + np.maximum.outer(degree, degree)), 0.0)
    np.fill_diagonal(w, 1 - w.sum(axis=1))
    return w


def contraction(w: Matrix) -> float:
    """Return lam = |W - J|_2: by how much one mixing shrinks the distance to the mean."""
    return float(np.linalg.norm(w - 1 / len(w), 2))


def edges(w: Matrix) -> int:
    """Return how many messages one mixing takes, all ranks together: weights off the diagonal."""
    return int(np.count_nonzero(w) - np.count_nonzero(np.diagonal(w)))
