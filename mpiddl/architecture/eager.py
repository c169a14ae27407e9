"""The live end of an all-reduce that some begin: who is late says later what it has to say.

Source  Li, Ben-Nun, Di Girolamo, Alistarh & Hoefler, "Taming unbalanced training workloads in deep
        learning with partial collective operations", PPoPP 2020 (eager-SGD).  arXiv:1908.04207
Paper   when a quorum has come all take part, the others with stale gradients or with 0;
        x <- x - gam (1/n) sum_j G_j
Letters G_j what rank j has pushed and not yet said, in sum, through the channel | x `Agreed.x`
Cost    a round: one all-reduce or all-gather, one all-reduce of n counts beside it, n - 1 empty
        messages that call to it; and an empty message per push, none from rank 0. 4 vectors (b,)
Quality Nothing is lost, only late. `counts` says whose clocks are in x, so with ssp:s no pull
        misses more than s of anybody who has not ended. With asp a worker may run far ahead.
Differs from the paper: a round is begun by who counts pushes (caller.py), not by one drawn by lot
for whom all wait: with a bound s that one may be waiting itself. A pull takes what has come and
does not wait for a round of its own; who is ahead says several clocks at once. Rounds go on until
all is said, so all models are equal in the end. The step size is that of clock (clocks in x) // n.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from mpiddl.architecture import Station
from mpiddl.architecture.agreed import Agreed, Outbox
from mpiddl.architecture.caller import CALL, NOTHING, NOTICE, Caller
from mpiddl.architecture.means import Means
from mpiddl.comm.collectives import Allgather, Allreduce
from mpiddl.comm.engine import Task, Wait
from mpiddl.errors import ProtocolError
from mpiddl.replica import Exchange

__all__ = ["EagerExchange"]

COUNTS = 1  # tag; that of means is 0


class EagerExchange(Exchange):
    """One lane on one rank; a task takes part in rounds.

    A round notes a row: `place` is the rank, `choice` how many of its clocks it has said, `clock`
    the last of them, `delay` the rounds since the pull at which the oldest new gradient was taken,
    -1 if there is none. A pull notes one at place n + rank: `choice` is how many rounds are in x.
    With a script each rank says in a round, and reads in a pull, what it did then.
    """

    def __init__(
        self, station: Station, allreduce: Allreduce, allgather: Allgather, quorum: int
    ) -> None:
        lane, comm, recorder = station.lane, station.comm, station.recorder
        self.lane, self.comm, self.engine, self.recorder = lane, comm, station.engine, recorder
        self.staleness, self.clocks = station.sync.staleness, recorder.clocks
        self.allreduce, self.means = allreduce, Means(station, allreduce, allgather)
        index, me, n = lane.bucket.index, comm.rank, len(recorder.clocks)
        self.place, self.reads, script = (index, me), (index, n + me), recorder.script
        self.joins = None if script is None else [int(c) for c in script[self.place]]
        self.due = None if script is None else [int(c) for c in script[self.reads]]
        self.outbox = Outbox(lane.x, self.joins or ())
        self.agreed = Agreed(lane, self.clocks, self.due[0] if self.due else None)
        self.read = self.pulls = 0  # rounds in x; pulls so far
        self.caller = None
        if me == 0:
            at_least = station.sync.at_least
            self.caller = Caller(comm, self.engine, self.clocks, quorum, at_least)
        self.rounds = self.engine.start(self._take_part(), "rounds of the all-reduce")

    def push(self, clock: int, finite: bool) -> None:
        """Have something to say, and tell rank 0 so."""
        self.outbox.put(self.lane.delta, finite, self.read)
        if self.caller is None:
            self.comm.isend(NOTHING, 0, NOTICE)
        else:
            self.caller.hear(0)

    def _take_part(self) -> Task[None]:
        done, counts = 0, np.zeros(self.comm.size)
        while tuple(counts) != self.clocks:
            if self.caller is None:
                yield self.comm.irecv(NOTHING, 0, CALL)
            else:
                yield from self.caller.call(counts, now=self.joins is not None)
            many = self.outbox.pushed
            if self.joins is not None:
                many = self.joins[done]
                yield lambda many=many: self.outbox.pushed >= many
            delay, v, finite = self.outbox.take(many, done)
            mean = self.means.say(v, finite)
            row = (*self.place, many, self.comm.rank, many - 1, delay, mean.nbytes)
            self.recorder.ledger.take_in(*row)
            counts = np.zeros(self.comm.size)
            counts[self.comm.rank] = many
            told = self.allreduce(self.comm, counts, COUNTS)
            start = self.engine.start
            yield [start(told, f"counts of round {done}"), start(mean.travel(), f"round {done}")]
            self.agreed.put((yield from mean.take()), counts)
            done += 1

    def _there(self, at_least: int) -> bool:
        if self.due is not None:
            return self.agreed.rounds == self.due[self.pulls]
        return self.agreed.slowest > at_least

    def pull(self, at_least: int) -> Generator[Wait, None, None]:
        """Wait until everyone who has not ended has said `at_least`; move to what is agreed."""
        yield lambda: self._there(at_least)
        pushed, agreed = self.outbox.pushed, self.agreed
        missing = int(max(0, pushed - agreed.slowest))
        if missing > self.staleness:
            raise ProtocolError(f"{missing} clocks of a worker miss, at most {self.staleness} may")
        self.lane.anchor[...] = agreed.x
        self.lane.x[...] = agreed.x
        self.read, self.pulls = agreed.rounds, self.pulls + 1
        row = (*self.reads, agreed.rounds, self.comm.rank, pushed - 1, -1)
        self.recorder.ledger.answer(self.recorder.ledger.take_in(*row), missing, 0)
        if self.due is not None and self.pulls < len(self.due):
            agreed.go_to(self.due[self.pulls])

    def close(self) -> Generator[Wait, None, None]:
        """Take part until all have said everything; x is then what all agree on."""
        yield [self.rounds, *(self.caller.listeners if self.caller else ())]
        self.agreed.go_to(None)
        self.lane.anchor[...] = self.agreed.x
        self.lane.x[...] = self.agreed.x
