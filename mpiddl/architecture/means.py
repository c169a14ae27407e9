"""The mean of what all ranks of a lane say, learnt by all of them: by sums, or by gathering.

Payloads that add are summed by an all-reduce. Others are gathered, decoded by all and added in the
order of ranks, so that all ranks hold the same bits. Each mean under way has buffers of its own.
"""

from __future__ import annotations

from mpiddl.architecture import Station
from mpiddl.arrays import Array, namespace
from mpiddl.comm.collectives import Allgather, Allreduce
from mpiddl.comm.engine import Task
from mpiddl.compression import Line

__all__ = ["Mean", "Means"]


class Means:
    """What one rank keeps to say its part of means on one lane, and to hear them.

    Parameters
    ----------
    station : Station
        The lane of this rank.
    allreduce, allgather : Allreduce, Allgather
        The collectives.
    depth : int
        How many means may be under way at once: each has a tag, of 0 to `depth` - 1.
    """

    def __init__(
        self, station: Station, allreduce: Allreduce, allgather: Allgather, depth: int = 1
    ) -> None:
        self.comm, self.like = station.comm, station.lane.x
        self.allreduce, self.allgather, self.depth = allreduce, allgather, depth
        self.line = station.line(self.like)
        self.begun = 0
        self.parts: dict[int, Array] = {}  # by tag, made when first used
        self.rows: dict[int, tuple[Array, Array]] = {}

    def say(self, v: Array, finite: bool) -> Mean:
        """Encode `v` (b,), past all memories if it is not `finite`; return its mean, to travel."""
        line, tag = self.line if finite else self.line.direct, self.begun % self.depth
        self.begun += 1
        return (_Summed if line.linear else _Gathered)(self, line, v, tag)

    def own(self, tag: int, part: Array) -> Array:
        """Return `part`, or a copy if the line may speak again before it has travelled."""
        if self.depth == 1:
            return part
        if tag not in self.parts:
            self.parts[tag] = namespace(part).empty_like(part)
        self.parts[tag][...] = part
        return self.parts[tag]

    def room(self, tag: int, capacity: int) -> tuple[Array, Array]:
        """Return rows for everybody's payload (n, capacity), and a vector for one's own (b,)."""
        if tag not in self.rows:
            xp, whole = namespace(self.like), -(-capacity // 8) * 8  # where any field may start
            rows = xp.empty((self.comm.size, whole), xp.uint8)
            self.rows[tag] = rows, xp.empty_like(self.like)
        return self.rows[tag]


class Mean:
    """One mean under way; means are taken in as they were said, in order: memories move then."""

    nbytes: int  # of what this rank says

    def travel(self) -> Task[None]:
        """Bring what all say to all, perhaps beside other means."""
        raise NotImplementedError

    def take(self) -> Task[Array]:
        """Return the mean (b,), owned here until the next is taken."""
        raise NotImplementedError


class _Summed(Mean):
    def __init__(self, means: Means, line: Line, v: Array, tag: int) -> None:
        self.means, self.tag, self.rounds = means, tag, line.rounds(v)
        self.sum = means.own(tag, next(self.rounds))
        self.nbytes = self.sum.nbytes

    def travel(self) -> Task[None]:
        yield from self.means.allreduce(self.means.comm, self.sum, self.tag)
        self.sum /= self.means.comm.size

    def take(self) -> Task[Array]:
        # The line hands over an array to be averaged, as often as its words need; identity: once.
        while True:
            try:
                self.sum = self.rounds.send(self.sum)
            except StopIteration as stop:
                return stop.value
            yield from self.travel()


class _Gathered(Mean):
    def __init__(self, means: Means, line: Line, v: Array, tag: int) -> None:
        self.means, self.tag, self.line = means, tag, line
        payload, me = line.send(v), means.comm.rank
        self.rows, self.said = means.room(tag, line.capacity)
        self.mine = self.rows[me, : payload.size]
        self.mine[...] = payload
        self.said[...] = line.said()  # as the others will decode it; the line may speak again
        self.nbytes = payload.nbytes

    def travel(self) -> Task[None]:
        comm = self.means.comm
        self.used = yield from self.means.allgather(comm, self.mine, self.rows, self.tag)

    def take(self) -> Task[Array]:
        yield from ()
        mean, comm = namespace(self.said).zeros_like(self.said), self.means.comm
        for source in range(comm.size):
            payload = self.rows[source, : self.used[source]]
            mean += self.said if source == comm.rank else self.line.receive(source, payload)
        mean /= comm.size
        return mean
