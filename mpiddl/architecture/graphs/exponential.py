"""The static exponential graph: everyone hears the ranks 1, 2, 4, ... before it; one way.

Source  Ying et al., "Exponential graph is provably efficient for decentralized deep training",
        NeurIPS 2021.  arXiv:2110.13363
W is circulant, so it is normal though not symmetric: gossip needs no more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpiddl.architecture.topology import Matrix, equal_weights, topologies
from mpiddl.registry import Described

__all__ = ["Exponential"]


@topologies.register("exponential")
@dataclass(frozen=True)
class Exponential(Described):
    """m = ceil(log2 n) neighbours, weights 1/(m + 1); lam = (m - 1) / (m + 1), for odd n less."""

    def matrix(self, n: int) -> Matrix:
        """Return W (n, n)."""
        m = (n - 1).bit_length()
        return equal_weights(n, *((np.arange(n) - (1 << bit)) % n for bit in range(m)))
