"""Dense within nodes, sparse between them: in a node all hear all, between nodes there are rings.

Nodes are G consecutive ranks, as MPI places them on hosts. A rank hears its own node, and of the
node before and the node after the rank at its place: as many rings of nodes as a node has ranks.
The last node may be smaller, then some rings are open there. With one node it is `complete`, with
G = 1 the `ring`.
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
    """G - 1 neighbours in the node and two outside; Metropolis weights, mostly 1/(G + 2).

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
        group = min(self.group, n)
        node, place = np.divmod(np.arange(n), group)
        linked = node[:, None] == node
        after = (node + 1) % (node[-1] + 1) * group + place
        (there,) = np.nonzero(after < n)
        linked[there, after[there]] = linked[after[there], there] = True
        np.fill_diagonal(linked, False)
        return metropolis(linked)
