"""Gossip in the order of Lian et al.: X <- W X - gam G(X), for trials of that theorem.

A worker mixes the models of the last agreement, and takes the step that it has made alone after.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from mpiddl.architecture import Station
from mpiddl.architecture.gossip import Gossip
from mpiddl.comm.engine import Wait
from mpiddl.compression import Channel
from mpiddl.optim import Seats
from mpiddl.replica import Exchange, Lane
from mpiddl.synchronization import Synchronization

__all__ = ["CombineFirst"]


@dataclass(frozen=True)
class CombineFirst:
    """`mixing`, but the models that are mixed are those before the step."""

    mixing: Gossip

    servers = Gossip.servers
    served = Gossip.served
    gradients = Gossip.gradients

    def __str__(self) -> str:
        return f"combine first, {self.mixing}"

    def check(self, channel: Channel, seats: Seats, sync: Synchronization, size: int) -> None:
        """Refuse what gossip cannot do; see `Gossip.check`."""
        self.mixing.check(channel, seats, sync, size)

    def agreed(self, size: int) -> str:
        """Return what ranks must agree on besides the text."""
        return self.mixing.agreed(size)

    def open(self, station: Station) -> Exchange:
        """Return the exchange of one lane."""
        return _Exchange(self.mixing.open(station), station.lane)


class _Exchange:
    def __init__(self, inner: Exchange, lane: Lane) -> None:
        self.inner, self.lane = inner, lane
        self.step = np.empty_like(lane.x)

    def push(self, clock: int, finite: bool) -> None:
        lane = self.lane
        np.subtract(lane.anchor, lane.x, out=self.step)
        lane.x[...] = lane.anchor
        self.inner.push(clock, finite)

    def pull(self, at_least: int) -> Generator[Wait, None, None]:
        yield from self.inner.pull(at_least)
        self.lane.x -= self.step
        self.lane.anchor[...] = self.lane.x

    def close(self) -> Generator[Wait, None, None]:
        yield from self.inner.close()
