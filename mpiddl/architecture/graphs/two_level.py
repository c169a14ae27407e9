"""Dense within nodes, sparse between them: a ring of nodes, in each of which all hear all.

Nodes are G consecutive ranks, as an MPI places them on a host; the last node may be smaller. The
last rank of a node and the first of the next hear each other, so two messages each way leave a
node in one mixing, whatever G is. With one node it is `complete`, with G = 1 the `ring`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpiddl.architecture.topology import Matrix, metropolis, topologies
from mpiddl.errors import ConfigurationError
from mpiddl.registry import Described

__all__ = ["TwoLevel"]


@topologies.register("two_level")
@dataclass(frozen=True)
class TwoLevel(Described):
    """G - 1 neighbours in the node, the ends of a node one more; Metropolis weights.

    Parameters
    ----------
    group : int
        Ranks G of a node, at least 1.

    Raises
    ------
    ConfigurationError
        If `group` is not a whole number of at least 1.
    """

    group: int

    def __post_init__(self) -> None:
        if type(self.group) is not int or self.group < 1:
            raise ConfigurationError(
                f"a node has a whole number of ranks, at least 1, found {self.group!r}: write "
                "two_level:4"
            )

    def matrix(self, n: int) -> Matrix:
        """Return W (n, n)."""
        node = np.arange(n) // self.group
        linked = node[:, None] == node
        first = np.flatnonzero(np.diff(node, prepend=-1))
        before = (first - 1) % n  # the last rank of the node before
        linked[first, before] = linked[before, first] = True
        np.fill_diagonal(linked, False)
        return metropolis(linked)
