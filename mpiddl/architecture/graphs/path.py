"""A ring that is not closed: Metropolis weights 1/3 along the edges, 2/3 at the ends themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpiddl.architecture.topology import Matrix, metropolis, topologies
from mpiddl.registry import Described

__all__ = ["Path"]


@topologies.register("path")
@dataclass(frozen=True)
class Path(Described):
    """Rank i hears i - 1 and i + 1 where they exist; lam = (1 + 2 cos(pi / n)) / 3, n >= 3."""

    def matrix(self, n: int) -> Matrix:
        """Return W (n, n)."""
        ranks = np.arange(n)
        return metropolis(np.abs(ranks[:, None] - ranks) == 1)
