"""What all variants are in which ranks speak to their neighbours in a graph, and to nobody else."""

from __future__ import annotations

from dataclasses import dataclass, field

from mpiddl.architecture import Peers
from mpiddl.architecture.mixing import digest
from mpiddl.architecture.topology import Matrix, find, matrices_of, require_weights
from mpiddl.errors import ConfigurationError
from mpiddl.registry import is_number
from mpiddl.synchronization import Synchronization

__all__ = ["Neighbours"]


@dataclass(frozen=True)
class Neighbours(Peers):
    """A graph with its weights.

    Parameters
    ----------
    graph : str
        Name of a topology, a file in `architecture/graphs`, or a path: see `topology.find`.
    gamma : float
        Share of the way to the neighbours' average, in (0, 1]: (1 - gamma) I + gamma W mixes.
    weights : str
        "graph": those that come with it; "metropolis" or "fastest": see `topology.matrices_of`.

    Raises
    ------
    ConfigurationError
        If there is no such graph, `gamma` is outside (0, 1], or `weights` is another word.
    """

    graph: str
    gamma: float = 1.0
    weights: str = field(default="graph", kw_only=True)

    def __post_init__(self) -> None:
        find(str(self.graph))  # refuses an unknown name
        if not is_number(self.gamma) or not 0 < self.gamma <= 1:
            raise ConfigurationError(
                f"{self.name} mixes a share gamma in (0, 1], found {self.gamma!r}: write "
                f"{self.name}:{self.graph},gamma=0.2"
            )
        require_weights(self.weights)

    def matrices(self, n: int) -> tuple[Matrix, ...]:
        """Return the matrices (n, n) that are used in turn, with gamma = 1."""
        return matrices_of(str(self.graph), self.weights, n)

    def agreed(self, size: int) -> str:
        """Return a digest of the matrices, or why there are none."""
        return digest(self.matrices, size)

    def require_all(self, sync: Synchronization) -> None:
        """Raise ConfigurationError if clocks may be missing."""
        if sync.staleness:
            raise ConfigurationError(
                f"{self} needs what all neighbours said in the same clock, but {sync} lets clocks "
                f"be missing: use gossip:{self.graph} or ps with it, or bsp"
            )
