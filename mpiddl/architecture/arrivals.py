"""Serving where clocks may be missing: every push counts when it comes.

Source  Ho et al., "More effective distributed ML via a stale synchronous parallel parameter
        server", NeurIPS 2013;  Lian et al., "Asynchronous parallel stochastic gradient for
        nonconvex optimization", NeurIPS 2015 (one gradient a step).  arXiv:1506.08272
Paper   x_{t+1} = outer(x_t, (1/n) D);   answer i after its clock c when min_j c_j >= c - s
Letters t `taken` | D what one worker says | n workers | c_j the last clock heard of worker j, of
        those that have not ended | tau = t - `read[i]`: what came between reading and writing
Differs from the paper: a push counts 1/n, so that n pushes move x as far as one mean does; the
step of Lian et al. is gam/n here. The step size is that of clock t // n.
"""

from __future__ import annotations

from math import inf

from mpiddl.architecture import Station
from mpiddl.architecture.shards import Shard
from mpiddl.architecture.turns import Turns
from mpiddl.arrays import namespace
from mpiddl.comm import Request
from mpiddl.compression import Channel

__all__ = ["Arrivals"]


class Arrivals(Turns):
    """Pushes are taken in one by one; who is far ahead is answered later."""

    def __init__(self, station: Station, shard: Shard, down: Channel) -> None:
        super().__init__(station, shard, down)
        n = len(self.clocks)
        self.heard_of = [0] * n  # pushes of each worker so far
        self.slowest: float = 0  # pushes of the slowest worker that has not ended; inf: none
        self.read = [0] * n  # pushes that were in the last answer
        self.waiting: dict[int, list[int]] = {}  # workers not yet answered, and their rows
        self.divide = namespace(self.x).divide
        self.listen()

    def expects(self, worker: int) -> bool:
        """Return whether `worker` has not ended."""
        return self.heard_of[worker] < self.clocks[worker]

    def take(self, worker: int, push: Request) -> None:
        """Take in a push; answer all who may go on."""
        clock, nbytes = self.heard_of[worker], push.nbytes
        delay = self.taken - self.read[worker]
        self.move(worker, delay, nbytes)
        self.waiting[worker] = self.take_in(worker, clock, delay, nbytes)
        self.heard_of[worker] += 1
        if clock == self.slowest:
            counts = zip(self.heard_of, self.clocks, strict=True)
            self.slowest = min((heard for heard, end in counts if heard < end), default=inf)
        push.finish(nbytes)
        self._answer_all_who_may_go_on()
        self.hold(self.taken)

    def move(self, worker: int, delay: int, nbytes: int) -> None:
        """Move x by what `worker` says, in `nbytes` bytes; `delay` pushes came in between."""
        n = len(self.clocks)
        self.divide(self.heard(worker, nbytes), n, out=self.mean)
        self.outer.apply(self.x, self.mean, self.taken // n)

    def _answer_all_who_may_go_on(self) -> None:
        at_least = self.station.sync.at_least
        for worker, row in list(self.waiting.items()):
            heard = self.heard_of[worker]
            if at_least(heard - 1) < self.slowest:
                del self.waiting[worker]
                self.reply(worker, row, int(max(0, heard - self.slowest)))
                self.read[worker] = self.taken

    def reply(self, worker: int, row: list[int], missing: int) -> None:
        """Answer the last push of `worker`; `missing` clocks of the slowest are not in it."""
        self.answer(worker, row, missing, *self.say(self.lines[worker]))
