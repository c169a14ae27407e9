"""The one-peer exponential graph: at clock t everyone hears the rank 2^(t mod m) before it.

Source  Assran, Loizou, Ballas & Rabbat, "Stochastic gradient push for distributed deep learning",
        ICML 2019.  arXiv:1811.10792;  Ying et al., "Exponential graph is provably efficient for
        decentralized deep training", NeurIPS 2021.  arXiv:2110.13363
Each clock costs one message a rank. One alone may not mix at all (steps of 2 on an even number of
ranks), the m of a turn do: to the exact average for n = 2^m; another n is allowed, and comes close.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from mpiddl.architecture.topology import Matrix, equal_weights, topologies
from mpiddl.registry import Described

__all__ = ["OnePeerExponential"]


@topologies.register("one_peer_exponential")
@dataclass(frozen=True)
class OnePeerExponential(Described):
    """One neighbour a clock, weights 1/2; lam = 0 of a turn of m = log2 n clocks."""

    def matrices(self, n: int) -> tuple[Matrix, ...]:
        """Return the matrices W (n, n) of one turn."""
        ranks, m = np.arange(n), (n - 1).bit_length()
        return tuple(equal_weights(n, (ranks - (1 << bit)) % n) for bit in range(max(1, m)))

    def matrix(self, n: int) -> Matrix:
        """Return what one turn does (n, n)."""
        return reduce(np.matmul, self.matrices(n))  # circulant: in any order
