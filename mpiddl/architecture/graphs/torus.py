"""A grid of a x b ranks, as square as n allows, closed both ways: weights 1/5.

n = a b with a the largest divisor up to sqrt(n). A side of 2 has one neighbour that way (weights
1/4), a side of 1 none: on a prime n the torus is the ring.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

import numpy as np

from mpiddl.architecture.topology import Matrix, equal_weights, topologies
from mpiddl.registry import Described

__all__ = ["Torus"]


@topologies.register("torus")
@dataclass(frozen=True)
class Torus(Described):
    """Rank i b + j sits at (i, j) and hears up, down, left and right."""

    def matrix(self, n: int) -> Matrix:
        """Return W (n, n)."""
        a = next(side for side in range(isqrt(n), 0, -1) if n % side == 0)
        b = n // a
        i, j = np.divmod(np.arange(n), b)
        up, down = ((i - 1) % a) * b + j, ((i + 1) % a) * b + j
        left, right = i * b + (j - 1) % b, i * b + (j + 1) % b
        return equal_weights(n, up, down, left, right)
