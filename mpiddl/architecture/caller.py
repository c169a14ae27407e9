"""Who begins a round that does not wait for all: rank 0 counts who has something to say.

Idea    Everybody tells rank 0 of every push, by an empty message; while no round is under way it
        calls all to the next as soon as a quorum has pushed what is in no round yet, by an empty
        message to each. Or sooner, where the others cannot make it up: they have ended, or the
        bound on staleness keeps them waiting, which follows from the same counts. Whoever is least
        advanced is never kept waiting, so a quorum comes, or a round without one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

import numpy as np

from mpiddl.comm import Communicator, Request
from mpiddl.comm.engine import Engine, Task

__all__ = ["CALL", "NOTHING", "NOTICE", "Caller", "slowest"]

NOTICE, CALL = 2, 3  # tags
NOTHING = np.empty(0, np.uint8)


def slowest(counts: Sequence[int], clocks: Sequence[int]) -> float:
    """Return the least of `counts` that is not yet its worker's number of `clocks`; inf: none."""
    return min(
        (count for count, end in zip(counts, clocks, strict=True) if count < end), default=inf
    )


class Caller:
    """Rank 0's side.

    Parameters
    ----------
    comm : Communicator
        The lane's.
    engine : Engine
        Moves the tasks that hear of pushes.
    clocks : sequence of int
        Number of clocks of each worker.
    quorum : int
        How many ranks must have something to say.
    at_least : callable
        From a clock to the clock of everyone that a pull after it waits for.
    """

    def __init__(
        self,
        comm: Communicator,
        engine: Engine,
        clocks: Sequence[int],
        quorum: int,
        at_least: Callable[[int], int],
    ) -> None:
        self.comm, self.clocks, self.quorum, self.at_least = comm, clocks, quorum, at_least
        self.pushed, self.counts = [0] * len(clocks), [0] * len(clocks)
        self.begin = Request(done=True)
        self.listeners = [
            engine.start(self._listen(worker), f"pushes of rank {worker}")
            for worker in range(1, len(clocks))
        ]

    def _listen(self, worker: int) -> Task[None]:
        for _ in range(self.clocks[worker]):
            yield self.comm.irecv(NOTHING, worker, NOTICE)
            self.hear(worker)

    def hear(self, worker: int) -> None:
        """Note a push of `worker`."""
        self.pushed[worker] += 1
        if not self.begin.done and self._enough():
            self.begin.finish()

    def call(self, counts: Sequence[int], now: bool) -> Task[None]:
        """Call all ranks to a round, when it is time or `now`; so many clocks are in those over."""
        self.counts = list(counts)
        self.begin = Request("a quorum", done=now or self._enough())
        yield self.begin
        for dest in range(1, len(self.clocks)):
            self.comm.isend(NOTHING, dest, CALL)

    def _enough(self) -> bool:
        least, pending, free = slowest(self.counts, self.clocks), 0, 0
        for pushed, count, end in zip(self.pushed, self.counts, self.clocks, strict=True):
            if pushed > count:
                pending += 1
            elif pushed < end and self.at_least(pushed - 1) < least:
                free += 1
        return pending >= self.quorum or (pending > 0 and pending + free < self.quorum)
