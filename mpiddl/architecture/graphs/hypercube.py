"""The m-dimensional cube: ranks whose numbers differ in one bit hear each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpiddl.architecture.topology import Matrix, equal_weights, topologies
from mpiddl.errors import ConfigurationError
from mpiddl.registry import Described

__all__ = ["Hypercube"]


@topologies.register("hypercube")
@dataclass(frozen=True)
class Hypercube(Described):
    """m = log2 n neighbours, weights 1/(m + 1); lam = (m - 1) / (m + 1)."""

    def matrix(self, n: int) -> Matrix:
        """Return W (n, n).

        Raises
        ------
        ConfigurationError
            If `n` is not a power of two.
        """
        m = n.bit_length() - 1
        if n != 1 << m:
            raise ConfigurationError(
                f"a hypercube has 2^m corners, found {n} ranks: use {1 << m} or {2 << m} ranks, "
                "or exponential, which takes any number"
            )
        ranks = np.arange(n)
        return equal_weights(n, *(ranks ^ (1 << bit) for bit in range(m)))

    def spectrum(self, n: int) -> tuple[float, float]:
        """Return the ends of the Laplacian's spectrum, n > 2: 2 and 2 m."""
        return 2, 2 * (n.bit_length() - 1)
