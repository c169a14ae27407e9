"""Everyone is a neighbour, weights 1/n: one mixing is the exact average."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpiddl.architecture.topology import Matrix, topologies
from mpiddl.registry import Described

__all__ = ["Complete"]


@topologies.register("complete")
@dataclass(frozen=True)
class Complete(Described):
    """n - 1 neighbours; lam = 0."""

    def matrix(self, n: int) -> Matrix:
        """Return W (n, n)."""
        return np.full((n, n), 1 / n)

    def spectrum(self, n: int) -> tuple[float, float]:
        """Return the ends of the Laplacian's spectrum, n > 2: n and n."""
        return n, n
