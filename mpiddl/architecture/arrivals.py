"""Serving where clocks may be missing: every push counts when it comes.

Source  Ho et al., "More effective distributed ML via a stale synchronous parallel parameter
        server", NeurIPS 2013;  Lian et al., "Asynchronous parallel stochastic gradient for
        nonconvex optimization", NeurIPS 2015 (one gradient a step).  arXiv:1506.08272
Paper   x_{t+1} = outer(x_t, (1/n) D);   answer i after its clock c when min_j c_j >= c - s
Letters t `taken` | D what one worker says | n workers | c_j the last clock heard of worker j, of
        those that have not ended | tau = t - `read[i]`: what came between reading and writing
Cost    a server has a box and an answer under way per worker: 2 n shards of memory
Differs from the paper: a push counts 1/n, so that n pushes move x as far as one mean does; the
step of Lian et al. is gam/n here. The step size is that of clock t // n.
"""

from __future__ import annotations

from math import inf

from mpiddl.architecture import Station
from mpiddl.architecture.server import PUSH, Server
from mpiddl.architecture.shards import Shard
from mpiddl.arrays import namespace
from mpiddl.comm import Request
from mpiddl.comm.engine import Task
from mpiddl.compression import Channel

__all__ = ["Arrivals"]


class Arrivals(Server):
    """One task per worker listens; pushes are taken in as they come, or by the script."""

    def __init__(self, station: Station, shard: Shard, down: Channel) -> None:
        super().__init__(station, shard, down)
        n = len(self.clocks)
        self.lines = [self.line() for _ in range(n)]  # they are told different things
        self.heard_of = [0] * n  # pushes of each worker so far
        self.slowest: float = 0  # pushes of the slowest worker that has not ended; inf: none
        self.read = [0] * n  # pushes that were in the last answer
        self.come: dict[int, Request] = {}  # pushes not yet taken in, in order of arrival
        self.waiting: dict[int, list[int]] = {}  # workers not yet answered, and their rows
        place = station.lane.bucket.index, shard.server
        self.order = None if station.recorder.script is None else station.recorder.script[place]
        self.divide = namespace(self.x).divide
        self.tasks = [
            station.engine.start(self._listen(worker), f"server {shard.server}")
            for worker in self.boxes
        ]

    def hear_own(self) -> None:
        """Let its push be taken in, now or when it is its turn."""
        self._arrive(self.comm.rank, 0)

    def _listen(self, worker: int) -> Task[None]:
        for _ in range(self.clocks[worker]):
            push = self.comm.irecv(self.boxes[worker], worker, PUSH)
            yield push
            yield self._arrive(worker, push.nbytes)

    def _arrive(self, worker: int, nbytes: int) -> Request:
        """Let a push be taken in, now or when it is its turn; done when its box is free again."""
        self.come[worker] = free = Request(f"turn of worker {worker}")
        free.nbytes = nbytes
        while (due := self._due()) in self.come:
            self._take(due, self.come.pop(due))
        return free

    def _due(self) -> int:
        """Return whose push is next, -1 for nobody's."""
        if self.order is None:
            return next(iter(self.come), -1)
        return self.order[self.taken] if self.taken < len(self.order) else -1

    def _take(self, worker: int, push: Request) -> None:
        clock, n = self.heard_of[worker], len(self.clocks)
        delay, nbytes = self.taken - self.read[worker], push.nbytes
        self.divide(self.heard(worker, nbytes), n, out=self.mean)
        self.outer.apply(self.x, self.mean, self.taken // n)
        self.waiting[worker] = self.take_in(worker, clock, delay, nbytes)
        self.heard_of[worker] += 1
        if clock == self.slowest:
            counts = zip(self.heard_of, self.clocks, strict=True)
            self.slowest = min((heard for heard, end in counts if heard < end), default=inf)
        push.finish(nbytes)
        self._answer_all_who_may_go_on()
        self.hold()

    def _answer_all_who_may_go_on(self) -> None:
        at_least = self.station.sync.at_least
        for worker, row in list(self.waiting.items()):
            heard = self.heard_of[worker]
            if at_least(heard - 1) < self.slowest:
                del self.waiting[worker]
                self.read[worker] = self.taken
                line, payload = self.say(self.lines[worker])
                self.answer(worker, row, int(max(0, heard - self.slowest)), line, payload)
