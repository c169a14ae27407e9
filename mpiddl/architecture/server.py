"""The serving side of a parameter server: one shard of one bucket, on the rank that holds it.

A server expects of every worker as many pushes as it has clocks and answers each with its shard,
so nobody says goodbye, and a worker that has ended holds nobody up. Two ways: rounds.py where
nothing may be missing, arrivals.py where pushes count as they come.
"""

from __future__ import annotations

from dataclasses import replace
from math import nan

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


def up_line(station: Station, shard: Shard, like: Array) -> Line:
    """Return a line on which workers say what concerns a shard `like` (b,)."""
    return station.line(like, shard=2 * shard.server)


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
        What is served.
    down : Channel
        In what words.
    """

    def __init__(self, station: Station, shard: Shard, down: Channel) -> None:
        lane, part, comm = station.lane, shard.part, station.comm
        self.station, self.shard, self.down, self.comm = station, shard, down, comm
        self.recorder, self.clocks = station.recorder, station.recorder.clocks
        self.x, start = lane.anchor[part].copy(), lane.bucket.span.start
        self.span = slice(start + part.start, start + part.stop)
        xp = namespace(self.x)
        self.mean, self.told = xp.empty_like(self.x), xp.empty_like(self.x)
        self.outer = lane.seats.outer.open(self.x, within(lane.layers, part))
        self.up = up_line(station, shard, self.x)
        others = (worker for worker in range(len(self.clocks)) if worker != comm.rank)
        self.boxes = {worker: xp.empty(self.up.capacity, xp.uint8) for worker in others}
        self.mine: Line  # on which this rank's own worker spoke last
        self.answered: Request  # done when `told` is the answer to that
        self.taken = 0  # pushes, of whomever
        self.tasks: list[Handle[None]] = []
        self.hold()

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
        raise NotImplementedError

    def heard(self, worker: int, nbytes: int) -> Array:
        """Return what the last push of `worker` says, (b,); not to be written."""
        if worker == self.comm.rank:
            return self.mine.said()
        return self.up.receive(worker, self.boxes[worker][:nbytes])

    def take_in(self, worker: int, clock: int, delay: int, nbytes: int) -> list[int]:
        """Count a push and note it; return its row in the ledger."""
        self.taken += 1
        place = self.station.lane.bucket.index, self.shard.server
        return self.recorder.ledger.take_in(*place, worker, worker, clock, delay, nbytes)

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

    def hold(self) -> None:
        """Have the shard noted as it is after the pushes so far."""
        self.recorder.hold(self.taken, self.span, self.x, self.comm)
