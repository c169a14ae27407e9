"""The live end of an all-reduce that some begin: who has nothing new to say takes part with 0.

Source  Li, Ben-Nun, Di Girolamo, Alistarh & Hoefler, "Taming unbalanced training workloads in deep
        learning with partial collective operations", PPoPP 2020 (eager-SGD).  arXiv:1908.04207
Paper   when a quorum has come all take part, who is late with 0, and next time with what it had;
        x <- x - gam (1/n) sum_j G_j
Letters G_j what rank j has pushed, and said in no round yet, through the channel | x `Agreed.x`
Cost    a round: its call (calls.py), and one all-reduce or all-gather. 3 vectors (b,)
Quality Nothing is lost, and all models are equal in the end. All know whose clocks are in x: with
        ssp:s no pull misses more than s of anybody who has not ended.
Differs from the paper: rounds are begun by who counts pushes, not by one drawn by lot for whom the
others wait: with a bound s that one may be waiting itself. A pull waits for the round with its own
clock; there who is late goes on, and what it says adds up. The step size is that of clock (clocks
in x) // n. A rank takes part when it looks for messages, that is between two layers.
"""

from __future__ import annotations

from collections.abc import Generator
from functools import partial

from mpiddl.architecture import Station
from mpiddl.architecture.agreed import Agreed
from mpiddl.architecture.calls import Calls
from mpiddl.architecture.means import Means
from mpiddl.arrays import namespace
from mpiddl.comm.engine import Task, Wait
from mpiddl.errors import ProtocolError
from mpiddl.replica import Exchange

__all__ = ["EagerExchange"]


class EagerExchange(Exchange):
    """One lane on one rank; a task takes part in rounds.

    A round notes a row: `place` is the rank, `choice` how many of its clocks it has said, `clock`
    the last of them, `delay` the rounds since the pull at which that gradient was taken, or -1 if
    it says nothing new. A pull notes one at place n + rank: `choice` is how many rounds are in x.
    With a script all say in a round, and read in a pull, what they did then.

    Parameters
    ----------
    station : Station
        The rank's side of the lane.
    means : Means
        How they are taken.
    quorum : int
        How many ranks must have something to say.
    """

    def __init__(self, station: Station, means: Means, quorum: int) -> None:
        lane, comm, engine, recorder = station.lane, station.comm, station.engine, station.recorder
        self.lane, self.me, self.means, self.ledger = lane, comm.rank, means, recorder.ledger
        self.clocks, self.staleness, script = recorder.clocks, station.sync.staleness, None
        index, places = lane.bucket.index, range(comm.size)
        self.says, self.reads = (index, self.me), (index, comm.size + self.me)
        self.due: list[int] | None = None  # by pull: rounds to be in x
        if recorder.script is not None:
            script = list(zip(*(recorder.script[index, place] for place in places), strict=True))
            self.due = [int(many) for many in recorder.script[self.reads]]
        self.news, self.known = lane.x.copy(), True
        self.nothing = namespace(lane.x).zeros_like(lane.x)
        self.pushed = self.read = 0  # own clocks; rounds in x
        self.agreed = Agreed(lane, self.clocks, self.due[0] if self.due else None)
        self.calls = Calls(comm, engine, self.clocks, quorum, script)
        self.rounds = engine.start(self._take_part(), "rounds of the all-reduce")

    def push(self, clock: int, finite: bool) -> None:
        """Have something to say."""
        self.news[...], self.known, self.pushed = self.lane.delta, finite, clock + 1
        self.calls.push()

    def _take_part(self) -> Task[None]:
        said, rounds, counts = 0, 0, [0] * len(self.clocks)
        while counts != list(self.clocks):
            counts = yield from self.calls.next()
            many, new = counts[self.me], counts[self.me] > said
            mean = self.means.say(*((self.news, self.known) if new else (self.nothing, True)))
            delay = rounds - self.read if new else -1
            self.ledger.take_in(*self.says, many, self.me, many - 1, delay, mean.nbytes)
            yield from mean.travel()
            said, rounds = many, rounds + 1
            self.agreed.put((yield from mean.take()), counts)

    def _is_there(self, at_least: int) -> bool:
        if self.due is not None:
            return self.agreed.rounds == self.due[self.pushed - 1]
        own = self.agreed.counts[self.me]
        return own == self.pushed and self.agreed.slowest > at_least

    def pull(self, at_least: int) -> Generator[Wait, None, None]:
        """Wait until this rank, and all that have not ended up to `at_least`, are in; move."""
        yield partial(self._is_there, at_least)
        missing = int(max(0, self.pushed - self.agreed.slowest))
        if missing > self.staleness:
            raise ProtocolError(f"{missing} clocks of a worker miss, at most {self.staleness} may")
        self.read = self.agreed.rounds
        row = self.ledger.take_in(*self.reads, self.read, self.me, self.pushed - 1, -1)
        self.ledger.answer(row, missing, 0)
        self._move()
        if self.due is not None and self.pushed < len(self.due):
            self.agreed.go_to(self.due[self.pushed])

    def _move(self) -> None:
        self.lane.anchor[...] = self.agreed.x
        self.lane.x[...] = self.agreed.x

    def close(self) -> Generator[Wait, None, None]:
        """Take part until all have said everything; x is then what all agree on."""
        yield [self.rounds, *self.calls.listeners]
        self.agreed.go_to(None)
        self._move()
