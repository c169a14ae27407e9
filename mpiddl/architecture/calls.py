"""Calls to rounds that do not wait for all: rank 0 counts who has something to say.

Idea    Everybody tells rank 0 of every push by an empty message. While no round is under way, rank
        0 begins one as soon as a quorum has pushed what is in no round yet; or sooner, if too few
        are behind the least advanced of those: waiting for who is ahead would hold up the slow for
        the fast, and they may be waiting themselves. The call goes down a binomial tree; it says
        how many clocks of each rank are in the rounds up to this one, so all know.
Why nobody waits for ever: consider the least advanced of those who have not ended. If it waits, for
        its own clock or for that of somebody less advanced who has ended, then rank 0 knows of
        something to say, and nobody is behind it; so a round begins.
Cost    per push an empty message, none from rank 0; per round n - 1 messages of n numbers
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mpiddl.comm import Communicator, Request
from mpiddl.comm.engine import Engine, Task

__all__ = ["Calls"]

NOTICE, CALL = 1, 2  # tags; that of means is 0
NOTHING = np.empty(0, np.uint8)


class Calls:
    """One rank's side.

    Parameters
    ----------
    comm : Communicator
        The lane's.
    engine : Engine
        Moves the tasks in which rank 0 hears of pushes.
    clocks : sequence of int
        Number of clocks of each worker.
    quorum : int
        How many ranks must have something to say.
    script : sequence of sequence of int, or None
        By round, the clocks of each rank that are in; None: as they come.
    """

    def __init__(
        self,
        comm: Communicator,
        engine: Engine,
        clocks: Sequence[int],
        quorum: int,
        script: Sequence[Sequence[int]] | None,
    ) -> None:
        self.comm, self.clocks, self.quorum, self.script = comm, clocks, quorum, script
        self.pushed, self.counts, self.rounds = [0] * comm.size, [0] * comm.size, 0
        self.begin = Request(done=True)
        others = range(1, comm.size) if comm.rank == 0 else ()
        self.listeners = [engine.start(self._listen(each), "pushes of others") for each in others]

    def push(self) -> None:
        """Tell rank 0 that this rank has something to say."""
        if self.comm.rank:
            self.comm.isend(NOTHING, 0, NOTICE)
        else:
            self._hear(0)

    def _listen(self, worker: int) -> Task[None]:
        for _ in range(self.clocks[worker]):
            yield self.comm.irecv(NOTHING, worker, NOTICE)
            self._hear(worker)

    def _hear(self, worker: int) -> None:
        self.pushed[worker] += 1
        if not self.begin.done and self._enough():
            self.begin.finish()

    def next(self) -> Task[list[int]]:
        """Wait for the next round; return how many clocks of each rank are in then."""
        counts, rank = np.empty(self.comm.size, np.int64), self.comm.rank
        if rank:
            yield self.comm.irecv(counts, rank & (rank - 1), CALL)
        else:
            self.begin = Request("a quorum", done=self._enough())
            yield self.begin
            counts[:] = self.pushed if self.script is None else self.script[self.rounds]
        for child in _children(rank, self.comm.size):
            self.comm.isend(counts, child, CALL)
        self.counts, self.rounds = [int(count) for count in counts], self.rounds + 1
        return self.counts

    def _enough(self) -> bool:
        if self.script is not None:
            due = self.script[self.rounds]
            return all(pushed >= many for pushed, many in zip(self.pushed, due, strict=True))
        news = [p for p, count in zip(self.pushed, self.counts, strict=True) if p > count]
        if not news or len(news) >= self.quorum:
            return bool(news)
        least, ends = min(news), zip(self.pushed, self.clocks, strict=True)
        return len(news) + sum(p < least and p < end for p, end in ends) < self.quorum


def _children(rank: int, size: int) -> Iterator[int]:
    """Yield whom a rank tells: those at 2^j above it, below its own lowest bit, far ones first."""
    distance = 1
    while not rank & distance and rank + distance < size:
        distance *= 2
    while distance > 1:
        distance //= 2
        yield rank + distance
