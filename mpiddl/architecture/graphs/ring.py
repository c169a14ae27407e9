"""Two neighbours, weights 1/3 (two ranks: 1/2 each)."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi

import numpy as np

from mpiddl.architecture.topology import Matrix, equal_weights, topologies
from mpiddl.registry import Described

__all__ = ["Ring"]


@topologies.register("ring")
@dataclass(frozen=True)
class Ring(Described):
    """Rank i hears i - 1 and i + 1; 1 - lam is about 4 pi^2 / (3 n^2)."""

    def matrix(self, n: int) -> Matrix:
        """Return W (n, n)."""
        ranks = np.arange(n)
        return equal_weights(n, (ranks - 1) % n, (ranks + 1) % n)

    def spectrum(self, n: int) -> tuple[float, float]:
        """Return the ends of the Laplacian's spectrum, n > 2: 2 - 2 cos(2 pi k / n)."""
        return 2 - 2 * cos(2 * pi / n), 2 - 2 * cos(2 * pi * (n // 2) / n)
