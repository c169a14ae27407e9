"""Stochastic gradient push: gossip over links one way, with a weight that takes off the bias.

Source  Assran, Loizou, Ballas & Rabbat, "Stochastic gradient push for distributed deep learning",
        ICML 2019, Algorithm 1.  arXiv:1811.10792;  Nedic & Olshevsky, "Stochastic gradient-push for
        strongly convex functions on time-varying directed graphs", IEEE Trans. Autom. Control, 2016
Paper   X' = X - gam G(Z);   X <- P X';   w <- P w;   Z = X / w            w_0 = 1, Z_0 = X_0
Letters gam G: the displacement `lane.delta` of a clock | Z `lane.anchor`, a step on `lane.x`
        | w `weight` (1,) | X = w Z, not kept | P (1-gamma) I + gamma P
Cost    as gossip, with one entry more: w
Quality columns of P add up to 1: sum X moves by the steps alone, sum w = n. Where rows do so too,
        w stays 1 and this is gossip
Differs from the paper: w is said exactly, whatever the words for X. Where the outer optimizer is
not sgd:1, X follows the Z to which it moves. Clocks of several steps make them on Z.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import ClassVar

from mpiddl.architecture import Station, architectures
from mpiddl.architecture.mixer import Mixer
from mpiddl.architecture.models import require_models
from mpiddl.architecture.neighbours import Neighbours
from mpiddl.architecture.sharing import check_sharing
from mpiddl.architecture.weighted import Weighted
from mpiddl.arrays import Array, namespace
from mpiddl.comm.engine import Handle, Wait
from mpiddl.compression import Channel
from mpiddl.optim import Seats
from mpiddl.replica import Exchange
from mpiddl.synchronization import Synchronization

__all__ = ["PushSum"]


@architectures.register("push_sum")
@dataclass(frozen=True)
class PushSum(Neighbours):
    """Share out model and weight among those who listen."""

    gradients: ClassVar[bool] = False

    def check(self, channel: Channel, seats: Seats, sync: Synchronization, size: int) -> None:
        """Refuse what push-sum cannot do.

        Raises
        ------
        ConfigurationError
            If clocks may be missing, if shares do not add up or do not reach everyone, if models
            have no inner optimizer, or if the channel remembers displacements.
        """
        self.require_all(sync)
        check_sharing(self.matrices(size), self.graph)
        require_models(self, channel, seats)

    def open(self, station: Station) -> Exchange:
        """Return the exchange of one lane."""
        return _Exchange(station, self.matrices(station.comm.size), self.gamma)


class _Exchange(Exchange):
    def __init__(self, station: Station, matrices: tuple[Array, ...], gamma: float) -> None:
        self.engine, self.lane = station.engine, station.lane
        x = station.lane.x
        self.both = namespace(x).ones(x.size + 1, x.dtype)  # as said: X', then w
        self.both[:-1] = x
        self.shared, self.weight = self.both[:-1], self.both[-1:]
        own = replace(station, channel=Weighted(station.channel))
        self.mixer = Mixer(own, self.both, matrices, gamma)
        self.clock = -1  # the last that was said
        self.handle: Handle[Array]

    def push(self, clock: int, finite: bool) -> None:
        lane = self.lane
        namespace(lane.x).multiply(lane.anchor, self.weight, out=self.shared)
        self.shared -= lane.delta
        self.clock = clock
        task = self.mixer.mix(clock, self.both, finite)
        self.handle = self.engine.start(task, f"push-sum of clock {clock}")

    def pull(self, at_least: int) -> Generator[Wait, None, None]:
        yield self.handle
        lane, way = self.lane, self.shared
        self.weight[...] = self.handle.value[-1:]
        namespace(lane.x).divide(self.handle.value[:-1], self.weight, out=way)
        way -= lane.anchor
        way *= -1
        lane.outer.apply(lane.anchor, way, self.clock)
        lane.x[...] = lane.anchor
