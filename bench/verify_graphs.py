"""Who speaks with whom in a trial, as architectures of mpiddl: graphs as they are, and forced ones.

A forced graph is one that mpiddl would refuse, or has not: a W whose columns do not add up to 1,
workers who hear nobody, eigenvalues that D2 does not stand, shares of the theory's own graphs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from bench import verify_pairs
from mpiddl.architecture import Architecture
from mpiddl.architecture.allreduce import AllReduce
from mpiddl.architecture.d2 import D2
from mpiddl.architecture.gossip import Gossip
from mpiddl.architecture.push_sum import PushSum
from mpiddl.architecture.topology import Matrix, matrices_of
from mpiddl.architecture.tracking import Tracking
from mpiddl.architecture.weights import shares
from mpiddl.arrays import Array
from mpiddl.compression import Channel
from mpiddl.optim import Seats
from mpiddl.synchronization import Synchronization

if TYPE_CHECKING:
    from bench.verify_runs import Spec

__all__ = ["architecture", "weights"]


def _lopsided(n: int) -> Matrix:
    """Worker 0 of a ring keeps twice its share, so the columns of W do not add up to 1."""
    (w,) = matrices_of("ring", "graph", n)
    w[0, 0] += 1.0
    w[0] /= w[0].sum()
    return w


def _one_way(n: int) -> Matrix:
    """All hear worker 0, and i + 1 hears i."""
    heard = np.roll(np.eye(n, dtype=bool), 1, axis=0)
    heard[1:, 0] = True
    return shares(heard)


def _leaves(n: int) -> Matrix:
    """All hear worker 0, and it hears all."""
    heard = np.zeros((n, n), dtype=bool)
    heard[1:, 0] = heard[0, 1:] = True
    return shares(heard)


FORCED: dict[str, Callable[[int], Matrix]] = {
    "lopsided": _lopsided,
    "alone": np.eye,
    "hypercube": lambda n: matrices_of("hypercube", "graph", n)[0],
    "one_way": _one_way,
    "rows": lambda n: _one_way(n).T.copy(),
    "leaves": _leaves,
}


@dataclass(frozen=True)
class Forced:
    """A graph of this file in place of `graph`; nobody checks it."""

    forced: str = field(default="", kw_only=True)

    def matrices(self, n: int) -> tuple[Matrix, ...]:
        """Return W (n, n), alone."""
        return (FORCED[self.forced](n),)

    def check(self, channel: Channel, seats: Seats, sync: Synchronization, size: int) -> None:
        """Accept it: that is the point."""


@dataclass(frozen=True)
class ForcedGossip(Forced, Gossip):
    """Gossip on a forced graph."""


@dataclass(frozen=True)
class ForcedD2(Forced, D2):
    """D2 on a forced graph."""


@dataclass(frozen=True)
class ForcedTracking(Forced, Tracking):
    """Gradient tracking on a forced graph."""


@dataclass(frozen=True)
class ForcedPushSum(Forced, PushSum):
    """Push-sum on a forced graph."""


def architecture(spec: Spec, seed: int = 0) -> Architecture:
    """Return the architecture of a trial without a server; with the seed of what is drawn."""
    if spec.order == "pairs":
        return verify_pairs.meetings(spec, seed)
    if spec.topology == "complete" and spec.order == "atc":
        return AllReduce()
    graph, _, share = spec.topology.partition(",gamma=")
    gamma = float(share or 1)
    forced = graph in FORCED and (graph != "hypercube" or (spec.order, gamma) == ("d2", 1.0))
    told = {"forced": graph} if forced else {}
    graph = "ring" if forced else graph
    if spec.order == "d2":
        return (ForcedD2 if forced else D2)(graph, gamma, **told)
    if spec.order == "tracking":
        return (ForcedTracking if forced else Tracking)(graph, gamma, **told)
    if spec.order == "share":
        return (ForcedPushSum if forced else PushSum)(graph, gamma, **told)
    return (ForcedGossip if forced else Gossip)(graph, gamma, order=spec.order, **told)


def weights(spec: Spec, clocks: int) -> Array:
    """Return the weights of models before each clock and at the end, (clocks + 1, n); mostly 1."""
    found = np.ones((clocks + 1, spec.n))
    sharing = architecture(spec)
    if isinstance(sharing, PushSum):
        (p,) = sharing.matrices(spec.n)
        for clock in range(clocks):
            found[clock + 1] = p @ found[clock]
    return found
