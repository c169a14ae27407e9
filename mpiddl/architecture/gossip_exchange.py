"""The live end of gossip: say one's model, hear the neighbours', mix; see gossip.py."""

from __future__ import annotations

from collections.abc import Generator

from mpiddl.architecture import Station
from mpiddl.architecture.topology import Matrix
from mpiddl.arrays import Array, namespace
from mpiddl.comm.engine import Handle, Task, Wait
from mpiddl.compression import Line

__all__ = ["GossipExchange"]


class GossipExchange:
    """One lane on one rank: an inbox for each neighbour heard, and the mixed model (b,).

    Parameters
    ----------
    w : float64 array (n, n)
        The mixing matrix.
    gamma : float
        Share of the way to the neighbours' average.
    adapt_later : bool
        Whether models are mixed as they were before the step, which is added afterwards.
    station : Station
        The rank's side of the lane.
    """

    def __init__(self, w: Matrix, gamma: float, adapt_later: bool, station: Station) -> None:
        comm, lane = station.comm, station.lane
        xp, n, me = namespace(lane.x), comm.size, comm.rank
        self.comm, self.engine, self.lane = comm, station.engine, lane
        self.gamma, self.adapt_later = gamma, adapt_later
        self.line = line = station.line(lane.x, start=lane.x)
        self.weights = w[me].tolist()
        offsets = range(1, n)  # in rotation, so that no two ranks speak to one at the same time
        self.dests = [(me + k) % n for k in offsets if w[(me + k) % n, me]]
        self.inboxes = {
            (me - k) % n: xp.empty(line.capacity, xp.uint8) for k in offsets if w[me, (me - k) % n]
        }
        self.mixed, self.part = xp.empty_like(lane.x), xp.empty_like(lane.x)
        self.handle: Handle[None]

    def push(self, clock: int, finite: bool) -> None:
        """Say the model; if the displacement is not finite, say that, past all references."""
        lane = self.lane
        said = lane.anchor if self.adapt_later else lane.x
        task = self._mix(self.line, said) if finite else self._mix(self.line.direct, lane.delta)
        self.handle = self.engine.start(task, f"gossip of clock {clock}")

    def pull(self, at_least: int) -> Generator[Wait, None, None]:
        """Wait for the neighbours' models of this clock; move to the mixed one."""
        yield self.handle
        lane = self.lane
        namespace(lane.x).subtract(lane.anchor, self.mixed, out=self.part)
        if self.adapt_later:
            self.part += lane.delta
        lane.outer.apply(lane.anchor, self.part, at_least)
        lane.x[...] = lane.anchor

    def close(self) -> Generator[Wait, None, None]:
        """Return at once: the last pull has heard all neighbours."""
        yield from ()

    def _mix(self, line: Line, model: Array) -> Task[None]:
        payload, multiply = line.send(model), namespace(model).multiply
        heard = {source: self.comm.irecv(box, source) for source, box in self.inboxes.items()}
        sends = [self.comm.isend(payload, dest) for dest in self.dests]
        yield [*heard.values(), *sends]
        own = line.said()
        self.mixed[...] = 0
        for source in sorted([self.comm.rank, *heard]):
            if source == self.comm.rank:
                said = own
            else:
                said = line.receive(source, self.inboxes[source][: heard[source].nbytes])
            multiply(said, self.weights[source], out=self.part)
            self.mixed += self.part
        # rows of W add up to 1; where own is the model and gamma is 1, the next lines change no bit
        multiply(own, -self.gamma, out=self.part)
        self.part += model
        self.mixed *= self.gamma
        self.mixed += self.part
