"""The working side of a parameter server: what one worker keeps for the shards of one bucket."""

from __future__ import annotations

from collections.abc import Generator
from typing import ClassVar

from mpiddl.architecture import Station
from mpiddl.architecture.server import PULL, PUSH, Server, down_line, up_line
from mpiddl.architecture.shards import Shard
from mpiddl.arrays import Array, namespace
from mpiddl.comm import Request
from mpiddl.comm.engine import Wait
from mpiddl.compression import Channel, Line
from mpiddl.replica import Exchange

__all__ = ["End", "ServedExchange"]


class End:
    """Lines to the server of a shard and back; `near` is the server if it is on this rank.

    Parameters
    ----------
    station : Station
        The lane of this rank.
    shard : Shard
        What is exchanged.
    down : Channel
        In what words the server answers.
    near : Server or None
        The server itself, if it is here: then no message is sent.
    """

    may_be_late: ClassVar[bool] = False
    models: ClassVar[bool] = False  # whether models are said, so that references begin at x0
    head: ClassVar[int] = 0  # bytes before the payload of an answer

    def __init__(
        self, station: Station, shard: Shard, down: Channel, near: Server | None = None
    ) -> None:
        lane, part = station.lane, shard.part
        self.comm, self.rank, self.near = station.comm, shard.rank, near
        self.x, self.anchor, self.delta = lane.x[part], lane.anchor[part], lane.delta[part]
        self.up = up_line(station, shard, self.x, self.models)
        self.down = down_line(station, shard, down, self.anchor)
        self.spoken: Line = self.up  # the line used last
        xp = namespace(self.anchor)
        self.box = xp.empty(self.head + self.down.capacity, xp.uint8)
        self.answer: Request  # to the last push

    def push(self, clock: int, finite: bool) -> None:
        """Say the displacement."""
        self.say(self.delta, finite)

    def say(self, v: Array, finite: bool) -> None:
        """Say `v` (b,); what is not finite bypasses memories."""
        self.spoken = self.up if finite else self.up.direct
        payload = self.spoken.send(v)
        if self.near is not None:
            self.answer = self.near.push(self.spoken)
        else:
            self.answer = self.comm.irecv(self.box, self.rank, PULL)
            self.comm.isend(payload, self.rank, PUSH)

    def closed(self, clock: int) -> bool:
        """Return whether the server has closed the round of `clock` without this worker."""
        return False

    def pull(self) -> None:
        """Move anchor and x to what the server answered."""
        self.hear()
        self.x[...] = self.anchor

    def hear(self) -> None:
        """Move the anchor to what the server answered."""
        if self.near is not None:
            self.anchor[...] = self.near.told
        else:
            payload = self.box[self.head : self.answer.nbytes]
            self.anchor[...] = self.down.receive(self.rank, payload)


class ServedExchange(Exchange):
    """One lane on one rank: the ends of a worker, the servers here, or both."""

    def __init__(self, ends: list[End], servers: list[Server]) -> None:
        self.ends, self.servers = ends, servers
        self.early = any(end.may_be_late for end in ends)

    def push(self, clock: int, finite: bool) -> None:
        """Speak to every server."""
        for end in self.ends:
            end.push(clock, finite)

    def closed(self, clock: int) -> bool:
        """Return whether every server has closed the round of `clock` without this rank."""
        return all(end.closed(clock) for end in self.ends)

    def pull(self, at_least: int) -> Generator[Wait, None, None]:
        """Wait for all answers: the servers know who may go on."""
        yield [end.answer for end in self.ends]
        for end in self.ends:
            end.pull()

    def close(self) -> Generator[Wait, None, None]:
        """Wait until every push that is to come here has been answered."""
        for server in self.servers:
            yield server.tasks
