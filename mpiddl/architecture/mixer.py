"""One mixing of gossip: whom a rank hears, and what it makes of it; see gossip.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mpiddl.architecture import Station
from mpiddl.architecture.topology import Matrix
from mpiddl.arrays import Array, namespace
from mpiddl.comm.engine import Task
from mpiddl.compression import Line

__all__ = ["Mixer", "Round"]


@dataclass(frozen=True)
class Round:
    """What one rank does in one mixing.

    Parameters
    ----------
    weights : sequence of float
        Its row of W (n,).
    dests, sources : sequence of int
        Who hears it and whom it hears, in rotation, so that no two ranks speak to one at a time.
    """

    weights: Sequence[float]
    dests: Sequence[int]
    sources: Sequence[int]

    @classmethod
    def of(cls, w: Matrix, me: int) -> Round:
        """Return the part of rank `me` in a mixing by `w` (n, n)."""
        n = len(w)
        dests = [(me + k) % n for k in range(1, n) if w[(me + k) % n, me]]
        sources = [(me - k) % n for k in range(1, n) if w[me, (me - k) % n]]
        return cls(w[me].tolist(), dests, sources)


class Mixer:
    """Mixing of vectors like `start` (b,) in one lane: boxes for neighbours, and the result.

    Parameters
    ----------
    station : Station
        The rank's side of the lane.
    start : array (b,)
        Where references begin, the same on every rank.
    matrices : sequence of float64 array (n, n)
        Mixing matrices, used in turn.
    gamma : float
        Share of the way to the neighbours' average.
    """

    def __init__(
        self, station: Station, start: Array, matrices: Sequence[Matrix], gamma: float = 1.0
    ) -> None:
        xp, me = namespace(start), station.comm.rank
        self.comm, self.gamma = station.comm, gamma
        self.rounds = [Round.of(w, me) for w in matrices]
        # a line for each, as hearers change and both ends must count the same words
        self.lines = [station.line(start, start, shard) for shard in range(len(matrices))]
        self.line = self.lines[0]
        sources = {source for one in self.rounds for source in one.sources}
        self.boxes = {source: xp.empty(self.line.capacity, xp.uint8) for source in sources}
        self.mixed, self.part = xp.empty_like(start), xp.empty_like(start)
        self.multiply = xp.multiply

    def mix(self, clock: int, model: Array, finite: bool) -> Task[Array]:
        """Mix `model` (b,) with the neighbours' of this clock; what is not finite is said directly.

        Returns the mixed model, valid until the next one.
        """
        at = clock % len(self.rounds)
        line, turn = self.lines[at] if finite else self.lines[at].direct, self.rounds[at]
        payload = line.send(model)
        heard = {source: self.comm.irecv(self.boxes[source], source) for source in turn.sources}
        sends = [self.comm.isend(payload, dest) for dest in turn.dests]
        yield [*heard.values(), *sends]
        self.begin()
        for source in sorted([self.comm.rank, *heard]):
            if source == self.comm.rank:
                said = line.said()
            else:
                said = line.receive(source, self.boxes[source][: heard[source].nbytes])
            self.add(turn.weights[source], said)
        return self.end(line, model)

    def begin(self) -> None:
        """Begin to add up."""
        self.mixed[...] = 0

    def add(self, weight: float, said: Array) -> None:
        """Add what somebody said (b,)."""
        self.multiply(said, weight, out=self.part)
        self.mixed += self.part

    def end(self, line: Line, model: Array) -> Array:
        """Go the share gamma of the way from `model` (b,), said on `line`, to what was added up."""
        # rows of W add up to 1; where `said` is the model and gamma is 1, this changes no bit
        self.multiply(line.said(), -self.gamma, out=self.part)
        self.part += model
        self.mixed *= self.gamma
        self.mixed += self.part
        return self.mixed
