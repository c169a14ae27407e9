"""Rank 0 in the middle, all others hear it alone; Metropolis weights 1/n along the edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpiddl.architecture.topology import Matrix, metropolis, topologies
from mpiddl.registry import Described

__all__ = ["Star"]


@topologies.register("star")
@dataclass(frozen=True)
class Star(Described):
    """n - 1 neighbours at rank 0, one at each other rank; lam = 1 - 1/n for n >= 3."""

    def matrix(self, n: int) -> Matrix:
        """Return W (n, n)."""
        linked = np.zeros((n, n), bool)
        linked[0, 1:] = linked[1:, 0] = True
        return metropolis(linked)

    def spectrum(self, n: int) -> tuple[float, float]:
        """Return the ends of the Laplacian's spectrum, n > 2: 1 and n."""
        return 1, n
