"""The two ends of a spring between a worker's model and the centre: see easgd.py.

Both compute e = alpha (x_i - c) from what was said, so that what a worker gives the centre gets.
"""

from __future__ import annotations

from typing import ClassVar

from mpiddl.architecture import Station
from mpiddl.architecture.arrivals import Arrivals
from mpiddl.architecture.rounds import Rounds
from mpiddl.architecture.server import Server
from mpiddl.architecture.shards import Shard
from mpiddl.architecture.worker import End
from mpiddl.arrays import Array, namespace
from mpiddl.compression import Channel, Line

__all__ = ["ElasticArrivals", "ElasticEnd", "ElasticRounds"]


class _Spring:
    """Parameters: `like`, a vector such as those that it ties, and `alpha`."""

    def __init__(self, like: Array, alpha: float) -> None:
        xp = namespace(like)
        self.alpha, self.subtract, self.e = alpha, xp.subtract, xp.empty_like(like)

    def between(self, x: Array, c: Array) -> Array:
        """Return alpha (x - c), (b,); owned here until the next call."""
        self.subtract(x, c, out=self.e)
        self.e *= self.alpha
        return self.e


class ElasticRounds(Rounds):
    """A centre that all pull at once."""

    models: ClassVar[bool] = True

    def __init__(self, station: Station, shard: Shard, down: Channel, alpha: float) -> None:
        super().__init__(station, shard, down)
        self.spring = _Spring(self.x, alpha)

    def agree(self, sizes: dict[int, int], clock: int, line: Line) -> tuple[Line, Array]:
        """Say the centre as it is, then move it by the sum of all e, in rank order."""
        said = self.say(line)
        c = said[0].said()
        self.mean[...] = 0
        for worker, nbytes in sizes.items():
            self.mean -= self.spring.between(self.heard(worker, nbytes), c)
        self.outer.apply(self.x, self.mean, clock)
        return said


class ElasticArrivals(Arrivals):
    """A centre that is pulled whenever it answers."""

    models: ClassVar[bool] = True

    def __init__(self, station: Station, shard: Shard, down: Channel, alpha: float) -> None:
        super().__init__(station, shard, down)
        self.spring = _Spring(self.x, alpha)
        self.told_by = [self.x.copy() for _ in self.clocks]  # models of workers not yet answered

    def move(self, worker: int, delay: int, nbytes: int) -> None:
        """Keep what `worker` says: it counts when it is answered."""
        self.told_by[worker][...] = self.heard(worker, nbytes)

    def reply(self, worker: int, row: list[int], missing: int) -> None:
        """Say the centre as it is to `worker`, then move it by its e."""
        line, payload = self.say(self.lines[worker])
        self.mean[...] = 0
        self.mean -= self.spring.between(self.told_by[worker], line.said())
        self.outer.apply(self.x, self.mean, (self.taken - 1) // len(self.clocks))
        self.answer(worker, row, missing, line, payload)


class ElasticEnd(End):
    """A worker that says its model, and is drawn to the centre."""

    models: ClassVar[bool] = True

    def __init__(
        self, station: Station, shard: Shard, down: Channel, near: Server | None, alpha: float
    ) -> None:
        super().__init__(station, shard, down, near)
        self.spring = _Spring(self.x, alpha)

    def push(self, clock: int, finite: bool) -> None:
        """Say the model; where it is not finite `delta` says so."""
        self.say(self.x if finite else self.delta, finite)

    def pull(self) -> None:
        """Move x towards the centre that the server answered."""
        self.hear()
        self.x -= self.spring.between(self.spoken.said(), self.anchor)
