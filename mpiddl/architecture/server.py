"""The serving side of a parameter server: one shard of one bucket, on the rank that holds it.

A server knows when a worker has spoken last and answers each push with its shard, so nobody says
goodbye, and a worker that has ended holds nobody up. Two ways: rounds.py where nothing may be
missing, turns.py where pushes are taken in one by one.
"""

from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import ClassVar

from mpiddl.architecture import Station
from mpiddl.architecture.shards import Shard
from mpiddl.arrays import Array, namespace
from mpiddl.comm import Request
from mpiddl.comm.engine import Handle
from mpiddl.compression import Channel, Line
from mpiddl.errors import ProtocolError
from mpiddl.layout import within
from mpiddl.replica import finite

__all__ = ["PULL", "PUSH", "Server", "down_line", "up_line"]

PUSH, PULL = 0, 1  # tags


def up_line(station: Station, shard: Shard, like: Array, models: bool) -> Line:
    """Return a line on which workers say what concerns a shard; `like` (b,) is x0 of `models`."""
    return station.line(like, like if models else None, 2 * shard.server)


def down_line(station: Station, shard: Shard, channel: Channel, x0: Array) -> Line:
    """Return a line on which a server says its shard, x0 (b,) in the beginning."""
    return replace(station, channel=channel).line(x0, start=x0, shard=2 * shard.server + 1)


class Server:
    """What both ways have in common: the shard x (b,), its optimizer, words and books.

    Parameters
    ----------
    station : Station
        The lane of this rank.
    shard : Shard
        What is served, in the words of `down`.
    """

    models: ClassVar[bool] = False  # whether models are said, so that references begin at x0

    def __init__(self, station: Station, shard: Shard, down: Channel) -> None:
        self.station, self.shard, self.down, self.comm = station, shard, down, station.comm
        lane, part = station.lane, shard.part
        self.recorder, self.clocks = station.recorder, station.recorder.clocks
        self.place = lane.bucket.index, shard.server
        self.x, start = lane.anchor[part].copy(), lane.bucket.span.start
        self.span = slice(start + part.start, start + part.stop)
        xp = namespace(self.x)
        self.mean, self.told = xp.empty_like(self.x), xp.empty_like(self.x)
        self.outer = lane.seats.outer.open(self.x, within(lane.layers, part))
        self.up = up_line(station, shard, self.x, self.models)
        others = [worker for worker in range(len(self.clocks)) if worker != self.comm.rank]
        self.boxes = {worker: xp.empty(self.up.capacity, xp.uint8) for worker in others}
        self.mine: Line  # on which this rank's own worker spoke last
        self.answered: Request  # done when `told` is the answer to that
        self.taken = 0  # pushes, of whomever
        self.tasks: list[Handle[None]] = []
        self.hold(0)

    def line(self) -> Line:
        """Return a fresh line to answer on."""
        return down_line(self.station, self.shard, self.down, self.x)

    def push(self, line: Line) -> Request:
        """Hear this rank's own worker, who spoke on `line`; done when `told` is its answer."""
        self.mine = line
        self.answered = answered = Request(f"server {self.shard.server}, on this rank")
        self.hear_own()
        return answered

    def hear_own(self) -> None:
        """Go on: this rank's own worker has spoken."""

    def heard(self, worker: int, nbytes: int) -> Array:
        """Return what the last push of `worker` says, (b,); not to be written."""
        if worker == self.comm.rank:
            return self.mine.said()
        return self.up.receive(worker, self.boxes[worker][:nbytes])

    def take_in(self, worker: int, clock: int, delay: int, nbytes: int) -> list[int]:
        """Count a push and note it; return its row in the ledger."""
        self.taken += 1
        return self.recorder.ledger.take_in(*self.place, worker, worker, clock, delay, nbytes)

    def say(self, line: Line) -> tuple[Line, Array]:
        """Say x on `line`, or that it is not finite, past memories: the line used, the payload."""
        if finite(self.x):
            return line, line.send(self.x)
        self.mean[...] = nan
        return line.direct, line.direct.send(self.mean)

    def answer(
        self, worker: int, row: list[int], missing: int, line: Line, payload: Array
    ) -> Request:
        """Give `worker` what was said on `line`; `missing` clocks of the slowest are not in it."""
        if missing > self.station.sync.staleness:
            raise ProtocolError(f"{self.station.sync}: {missing} clocks miss for worker {worker}")
        own = worker == self.comm.rank
        self.recorder.ledger.answer(row, missing, 0 if own else payload.nbytes)
        if not own:
            return self.comm.isend(payload, worker, PULL)
        self.told[...] = line.said()
        self.answered.finish()
        return self.answered

    def hold(self, pushes: int) -> None:
        """Have the shard noted as it is after that many pushes."""
        self.recorder.hold(pushes, self.span, self.x, self.comm)
