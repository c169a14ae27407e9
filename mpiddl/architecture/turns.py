"""Taking in pushes one by one: as they come, or in the order of a script.

Cost    a server has a box and an answer under way per worker: 2 n shards of memory
"""

from __future__ import annotations

from mpiddl.architecture import Station
from mpiddl.architecture.server import PUSH, Server
from mpiddl.architecture.shards import Shard
from mpiddl.comm import Request
from mpiddl.comm.engine import Task
from mpiddl.compression import Channel

__all__ = ["Turns"]


class Turns(Server):
    """One task per worker listens; whoever is next is taken in."""

    def __init__(self, station: Station, shard: Shard, down: Channel) -> None:
        super().__init__(station, shard, down)
        self.lines = [self.line() for _ in self.clocks]  # they are told different things
        self.come: dict[int, Request] = {}  # pushes not yet taken in, in order of arrival
        script = station.recorder.script
        self.order = None if script is None else script[self.place]

    def take(self, worker: int, push: Request) -> None:
        """Take in a push, which is finished once another may come."""
        raise NotImplementedError

    def expects(self, worker: int) -> bool:
        """Return whether another push of `worker` is to come."""
        raise NotImplementedError

    def listen(self) -> None:
        """Begin to hear the other workers."""
        start, name = self.station.engine.start, f"server {self.shard.server}"
        self.tasks = [start(self._listen(worker), name) for worker in self.boxes]

    def hear_own(self) -> None:
        """Let its push be taken in, now or when it is its turn."""
        self._arrive(self.comm.rank, 0)

    def _listen(self, worker: int) -> Task[None]:
        while self.expects(worker):
            push = self.comm.irecv(self.boxes[worker], worker, PUSH)
            yield push
            yield self._arrive(worker, push.nbytes)

    def _arrive(self, worker: int, nbytes: int) -> Request:
        """Let a push be taken in, now or when it is its turn; done when its box is free again."""
        self.come[worker] = free = Request(f"turn of worker {worker}")
        free.nbytes = nbytes
        while (due := self._due()) in self.come:
            self.take(due, self.come.pop(due))
        return free

    def _due(self) -> int:
        """Return whose push is next, -1 for nobody's."""
        if self.order is None:
            return next(iter(self.come), -1)
        return self.order[self.taken] if self.taken < len(self.order) else -1
