"""Who speaks with whom in gossip: graphs as mixing matrices W, x_i <- sum_j W_ij x_j.

A graph is a file in `graphs/` (its table is there), or a file of the user's: edges, or the matrix
itself. Its text is ``ring``, or ``random_regular:4;seed=1``: inside the text of an architecture,
where commas tell the architecture's options apart, semicolons do so for those of the graph. What W
must be is said in mixing.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from mpiddl.architecture.weights import (
    Matrix,
    contraction,
    edges,
    equal_weights,
    fastest,
    links,
    metropolis,
)
from mpiddl.errors import ConfigurationError
from mpiddl.registry import Registry

__all__ = [
    "WEIGHTS",
    "Matrix",
    "Topology",
    "contraction",
    "cycle",
    "edges",
    "equal_weights",
    "find",
    "matrices_of",
    "metropolis",
    "require_weights",
    "topologies",
]

WEIGHTS = ("graph", "metropolis", "fastest")


class Topology(Protocol):
    """A family of graphs, one for each number of ranks that it has a graph for.

    A family whose graphs change from clock to clock has ``matrices(n)`` as well, one for each clock
    of a turn; its `matrix` is what one turn does, their product. One whose links are all alike may
    have ``spectrum(n)``: the least and the largest eigenvalue of its Laplacian, besides 0, n > 2.
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

    A path has a dot or a slash in it, as in ``./graph``; ConfigurationError if it is neither.
    """
    named = graph.partition(":")[0] in topologies
    if named or not ("." in graph or "/" in graph):
        found: Topology = topologies.parse(graph.replace(";", ","))
        return found
    from mpiddl.architecture.graphs.from_file import FromFile  # only here: most graphs have names

    return FromFile(graph)


def require_weights(weights: object) -> None:
    """Raise ConfigurationError unless `weights` is one of WEIGHTS."""
    if not isinstance(weights, str) or weights not in WEIGHTS:
        raise ConfigurationError(
            f"weights are one of {', '.join(WEIGHTS)}; found {weights!r}: write weights=metropolis"
        )


def matrices_of(graph: str, weights: str, n: int) -> tuple[Matrix, ...]:
    """Return the mixing matrices W (n, n) of `graph` that are used in turn.

    `weights` is a word of WEIGHTS: as they come with the graph, or others on its links, both ways.

    Raises
    ------
    ConfigurationError
        If there is no such graph of `n` ranks, no such word, or no closed form.
    """
    require_weights(weights)
    topology = find(graph)
    own = cycle(topology, n)
    if weights == "graph":
        return own
    if weights == "metropolis":
        return tuple(metropolis(links(w)) for w in own)
    spectrum = getattr(topology, "spectrum", None)
    if spectrum is None:
        raise ConfigurationError(
            f"weights=fastest is a closed form for graphs whose links are all alike (complete, "
            f"hypercube, ring, star), which those of {graph} are not: use weights=metropolis"
        )
    return own if n < 3 else (fastest(links(own[0]), *spectrum(n)),)
