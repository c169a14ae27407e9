"""Serving where nothing may be missing: one mean and one step of the server per clock.

Paper   D_i = what worker i says at clock t;   x <- outer(x, (1/n_t) sum_i D_i);   answer all
Letters n_t workers that have not ended before t `active` | the sum, then the mean `mean`
"""

from __future__ import annotations

from mpiddl.architecture import Station
from mpiddl.architecture.server import PUSH, Server
from mpiddl.architecture.shards import Shard
from mpiddl.arrays import Array
from mpiddl.comm import Request
from mpiddl.comm.engine import Task
from mpiddl.compression import Channel, Line

__all__ = ["Rounds"]


class Rounds(Server):
    """One task with one round per clock; sums are made in rank order."""

    def __init__(self, station: Station, shard: Shard, down: Channel) -> None:
        super().__init__(station, shard, down)
        self.spoken: Request  # done when this rank's own worker has
        self.tasks = [station.engine.start(self._serve(), f"server {shard.server}")]

    def hear_own(self) -> None:
        """Let the round know."""
        self.spoken.finish()

    def _expect(self, worker: int) -> Request:
        if worker != self.comm.rank:
            return self.comm.irecv(self.boxes[worker], worker, PUSH)
        self.spoken = Request("the worker here")
        return self.spoken

    def _serve(self) -> Task[None]:
        line, sends = self.line(), list[Request]()
        for clock in range(max(self.clocks)):
            active = [worker for worker, end in enumerate(self.clocks) if clock < end]
            pushes = {worker: self._expect(worker) for worker in active}
            yield [*pushes.values(), *sends]  # who has ended may still be hearing the last answer
            sizes = {worker: push.nbytes for worker, push in pushes.items()}
            said = self.agree(sizes, clock, line)
            rows = {worker: self.take_in(worker, clock, 0, sizes[worker]) for worker in active}
            first = self.shard.server % len(active)
            in_turn = active[first:] + active[:first]  # so that not all servers speak to one
            sends = [self.answer(worker, rows[worker], 0, *said) for worker in in_turn]
            self.hold(self.taken)

    def agree(self, sizes: dict[int, int], clock: int, line: Line) -> tuple[Line, Array]:
        """Take in what workers said, in so many bytes by worker; return what is said on `line`."""
        self.mean[...] = 0
        for worker, nbytes in sizes.items():
            self.mean += self.heard(worker, nbytes)
        self.mean /= len(sizes)
        self.outer.apply(self.x, self.mean, clock)
        return self.say(line)
