"""Gossip where clocks may be missing: a model is mixed with the newest ones that have come.

Source  Luo, Lin, Zhuo & Qian, "Hop: heterogeneity-aware decentralized training", ASPLOS 2019
        (bounded staleness).  arXiv:1902.01064;  the bound is that of ssp.py
Paper   x_i <- y_i + gamma sum_j W_ij (h_j^(v_j) - h_i);   c - s <= v_j, the newest clock heard of j
Letters y_i the model that rank i mixes, after its clock c | h_j^(v) what was heard of its clock v,
        v = -1: the start | v_j `choice` in the ledger, which may be newer than c
Cost    as gossip; per neighbour the newest model (b,), and payloads that were not yet taken in
Quality Models that no longer move have no age: where gossip comes to rest, so does this. On the way
        the mean of the models is not kept, as what j gives to i, i need not have given to j.
        Averaging alone agrees if no model is older than a bound, but on what depends on who was
        late: Bertsekas & Tsitsiklis, "Parallel and distributed computation", 1989, chapter 7.
Differs from the paper: nobody waits for room at a receiver, who takes in everything as it comes, in
order (so references stay references), and mixes only the newest. With ssp:s at most 2 s + 2
messages are under way on a link that has another back; with asp, whose senders may be faster than
the wires, there is no bound. A worker that has ended counts as infinitely far ahead: its last model
stays.
"""

from __future__ import annotations

from collections.abc import Generator

from mpiddl.architecture import Station
from mpiddl.architecture.gossip_exchange import GossipExchange
from mpiddl.architecture.heard import Heard
from mpiddl.architecture.topology import Matrix
from mpiddl.arrays import Array, namespace
from mpiddl.comm import Request
from mpiddl.comm.engine import Task, Wait
from mpiddl.compression import Line
from mpiddl.errors import ProtocolError

__all__ = ["StaleGossipExchange"]


class StaleGossipExchange(GossipExchange):
    """One lane on one rank; one task per neighbour takes in what it says.

    Every pull notes one row per neighbour, in rank order: `choice` is the clock of the model mixed,
    `worker` the neighbour, `clock` one's own, `staleness` by how many clocks that model is behind,
    `up_bytes` the size of its message, mixed for the first time or again; `delay` is -1, as
    gradients are taken at one's own model. A script has each pull mix the same clocks.
    """

    def __init__(self, station: Station, w: Matrix, gamma: float, adapt_later: bool) -> None:
        super().__init__(station, [w], gamma, adapt_later)
        self.comm, self.recorder = station.comm, station.recorder
        self.place = station.lane.bucket.index, station.comm.rank
        self.staleness = station.sync.staleness
        self.turn = self.mixer.rounds[0]
        sources, script = sorted(self.turn.sources), station.recorder.script
        choices = None if script is None else list(script.get(self.place, ()))
        self.heard = {
            source: Heard(source, self.lane.x, choices and choices[at :: len(sources)])
            for at, source in enumerate(sources)
        }
        self.sends: list[tuple[Array, list[Request]]] = []  # payloads, and whether they are free
        self.line: Line  # on which this rank spoke last, and what it said
        self.spoken: Array
        self.listeners = [
            self.engine.start(self._listen(source), f"hearing rank {source}") for source in sources
        ]

    def push(self, clock: int, finite: bool) -> None:
        """Say the model; if the displacement is not finite, say that."""
        self.clock, self.line = clock, self.mixer.line if finite else self.mixer.line.direct
        self.spoken = self.model(finite)
        payload = self._own(self.line.send(self.spoken))
        self.sends[-1][1][:] = [self.comm.isend(payload, dest) for dest in self.turn.dests]

    def _own(self, payload: Array) -> Array:
        """Return a copy of `payload` that stays until it is sent, as the last of `sends`."""
        free = (at for at, (_, sends) in enumerate(self.sends) if all(one.done for one in sends))
        at = next(free, None)
        if at is None:
            box = namespace(payload).empty(self.mixer.line.capacity, payload.dtype)
            self.sends.append((box, []))
        else:
            self.sends.append(self.sends.pop(at))
        copy = self.sends[-1][0][: payload.size]
        copy[...] = payload
        return copy

    def _listen(self, source: int) -> Task[None]:
        box = self.mixer.boxes[source]
        for clock in range(self.recorder.clocks[source]):
            message = self.comm.irecv(box, source)
            yield message
            model = self.mixer.line.receive(source, box[: message.nbytes])
            self.heard[source].put(clock, model, message.nbytes)

    def pull(self, at_least: int) -> Generator[Wait, None, None]:
        """Wait until every neighbour was heard of up to `at_least`; move to what is mixed."""
        last = {source: self.recorder.clocks[source] - 1 for source in self.heard}
        yield [one.reached(min(at_least, last[source])) for source, one in self.heard.items()]
        mixer, me = self.mixer, self.comm.rank
        mixer.begin()
        for source in sorted([me, *self.heard]):
            if source == me:
                said = self.line.said()
            else:
                said = self._take(source, last[source])
            mixer.add(self.turn.weights[source], said)
        self.move(mixer.end(self.line, self.spoken))

    def _take(self, source: int, last: int) -> Array:
        """Return the model (b,) of `source` that is mixed now, and note it."""
        clock, model, nbytes = self.heard[source].take()
        missing = max(0, min(self.clock, last) - clock)
        if missing > self.staleness:
            raise ProtocolError(f"{missing} clocks of rank {source} miss, at most {self.staleness}")
        row = self.recorder.ledger.take_in(*self.place, clock, source, self.clock, -1, nbytes)
        self.recorder.ledger.answer(row, missing, 0)
        return model

    def close(self) -> Generator[Wait, None, None]:
        """Take in what neighbours have yet to say."""
        yield self.listeners
