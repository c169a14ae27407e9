"""Who speaks with whom in gossip: graphs as mixing matrices W.

x_i <- sum_j W_ij x_j. W must be doubly stochastic (the mean of the models stays) and connected
(|W - J|_2 < 1, J = 11^T / n); 1 - |W - J|_2 is the spectral gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from mpiddl.errors import ConfigurationError
from mpiddl.registry import Described, Registry

__all__ = ["Complete", "Ring", "Topology", "check_mixing", "contraction", "topologies"]


class Topology(Protocol):
    """A family of graphs, one for each number of ranks."""

    def matrix(self, n: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return W (n, n)."""


topologies: Registry[Any] = Registry("mpiddl.architecture", "topology")


@topologies.register("ring")
@dataclass(frozen=True)
class Ring(Described):
    """Two neighbours, weights 1/3 (two ranks: 1/2 each)."""

    def matrix(self, n: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return W (n, n)."""
        eye = np.eye(n)
        if n <= 2:
            return np.full((n, n), 1 / n)
        return (eye + np.roll(eye, 1, axis=1) + np.roll(eye, -1, axis=1)) / 3


@topologies.register("complete")
@dataclass(frozen=True)
class Complete(Described):
    """Everyone is a neighbour, weights 1/n: one mixing is the exact average."""

    def matrix(self, n: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return W (n, n)."""
        return np.full((n, n), 1 / n)


def contraction(w: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    """Return lam = |W - J|_2: by how much one mixing shrinks the distance to the mean."""
    return float(np.linalg.norm(w - 1 / len(w), 2))


def check_mixing(w: np.ndarray[Any, np.dtype[np.float64]], name: str) -> None:
    """Refuse a matrix that gossip cannot use.

    Raises
    ------
    ConfigurationError
        If W (n, n) is not doubly stochastic or does not contract.
    """
    n = len(w)
    for axis, sums in (("row", w.sum(axis=1)), ("column", w.sum(axis=0))):
        if np.abs(sums - 1).max() > 1e-12:
            worst = int(np.abs(sums - 1).argmax())
            raise ConfigurationError(
                f"topology {name} on {n} ranks is not doubly stochastic: {axis} {worst} adds up to "
                f"{sums[worst]:.6g}, so the mean of the models would drift; use Metropolis weights"
            )
    if contraction(w) > 1 - 1e-12:
        raise ConfigurationError(
            f"topology {name} on {n} ranks never agrees: |W - J| = 1; the graph is disconnected, "
            "or it only swaps models: add an edge, or weight on the diagonal"
        )
