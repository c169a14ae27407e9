"""Gossip: every rank mixes its model with its neighbours'; nobody holds the agreed one.

Source  Lian et al., "Can decentralized algorithms outperform centralized algorithms?", NeurIPS
        2017 (D-PSGD).  arXiv:1705.09056;  adapt-then-combine: Sayed, "Adaptation, learning, and
        optimization over networks", 2014
Paper   y_i = x_i - gam g_i(x_i)  (inner seat);   x_i <- sum_j W_ij y_j
Letters y_i `lane.x` when pushed | W `topology.matrix(n)`
Cost    per rank and clock one payload to each neighbour, in rotation
Differs from the paper: Lian et al. combine before they adapt; here the step comes first, so
gradients are taken at mixed models. Sums are made in rank order.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from mpiddl.architecture import architectures
from mpiddl.architecture.topology import check_mixing, topologies
from mpiddl.arrays import Array, namespace
from mpiddl.comm import Communicator
from mpiddl.comm.engine import Engine, Handle, Task, Wait
from mpiddl.compression import Channel, Line
from mpiddl.errors import ConfigurationError
from mpiddl.optim import Seats
from mpiddl.registry import Described
from mpiddl.replica import Lane

__all__ = ["Gossip"]


@architectures.register("gossip")
@dataclass(frozen=True)
class Gossip(Described):
    """Mix with the neighbours, adapt-then-combine.

    Parameters
    ----------
    graph : str
        Name of a topology: "ring", "complete".
    """

    graph: str

    def matrix(self, n: int) -> Any:
        """Return the mixing matrix W (n, n)."""
        return topologies.parse(self.graph).matrix(n)

    def check(self, channel: Channel, seats: Seats, size: int) -> None:
        """Refuse what gossip cannot do.

        Raises
        ------
        ConfigurationError
            If the graph does not mix, if models have no inner optimizer, or if the channel
            remembers displacements.
        """
        check_mixing(self.matrix(size), self.graph)
        if seats.inner is None:
            raise ConfigurationError(
                f"gossip:{self.graph} exchanges models, so each worker must move its own: "
                "give it an inner optimizer, as in sgd:0.1>sgd:1"
            )
        if channel.remembers:
            raise ConfigurationError(
                f"gossip:{self.graph} exchanges models, but {channel} remembers displacements: "
                "use allreduce with it, or a channel without memory"
            )

    def open(self, comm: Communicator, engine: Engine, lane: Lane, line: Line) -> _Exchange:
        """Return the exchange of one lane."""
        return _Exchange(self.matrix(comm.size), comm, engine, lane, line)


class _Exchange:
    def __init__(self, w: Any, comm: Communicator, engine: Engine, lane: Lane, line: Line) -> None:
        xp, n, me = namespace(lane.x), comm.size, comm.rank
        self.comm, self.engine, self.lane, self.line = comm, engine, lane, line
        self.weights = w[me].tolist()
        offsets = range(1, n)  # in rotation, so that no two ranks speak to one at the same time
        self.dests = [(me + k) % n for k in offsets if w[(me + k) % n, me]]
        self.inboxes = {
            (me - k) % n: xp.empty(line.capacity, xp.uint8) for k in offsets if w[me, (me - k) % n]
        }
        self.mixed, self.part = xp.empty_like(lane.x), xp.empty_like(lane.x)
        self.handle: Handle[Array]

    def push(self, clock: int, finite: bool) -> None:
        self.handle = self.engine.start(self._round(), f"gossip of clock {clock}")

    def pull(self, at_least: int) -> Generator[Wait, None, None]:
        yield self.handle
        lane = self.lane
        namespace(lane.x).subtract(lane.anchor, self.mixed, out=self.part)
        lane.outer.apply(lane.anchor, self.part, at_least)
        lane.x[...] = lane.anchor

    def _round(self) -> Task[None]:
        payload, multiply = self.line.send(self.lane.x), namespace(self.lane.x).multiply
        heard = {source: self.comm.irecv(box, source) for source, box in self.inboxes.items()}
        sends = [self.comm.isend(payload, dest) for dest in self.dests]
        yield [*heard.values(), *sends]
        self.mixed[...] = 0
        for source in sorted([self.comm.rank, *heard]):
            if source == self.comm.rank:
                model = self.lane.x
            else:
                model = self.line.receive(source, self.inboxes[source][: heard[source].nbytes])
            multiply(model, self.weights[source], out=self.part)
            self.mixed += self.part
