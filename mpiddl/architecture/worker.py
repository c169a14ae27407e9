"""The working side of a parameter server: what one worker keeps for one shard of one bucket."""

from __future__ import annotations

from mpiddl.architecture import Station
from mpiddl.architecture.server import PULL, PUSH, Server, down_line, up_line
from mpiddl.architecture.shards import Shard
from mpiddl.arrays import namespace
from mpiddl.comm import Request
from mpiddl.compression import Channel

__all__ = ["End"]


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

    def __init__(
        self, station: Station, shard: Shard, down: Channel, near: Server | None = None
    ) -> None:
        lane, part = station.lane, shard.part
        self.comm, self.rank, self.near = station.comm, shard.rank, near
        self.delta, self.anchor = lane.delta[part], lane.anchor[part]
        self.up = up_line(station, shard, self.delta)
        self.down = down_line(station, shard, down, self.anchor)
        xp = namespace(self.anchor)
        self.box = xp.empty(self.down.capacity, xp.uint8)
        self.answer: Request  # to the last push

    def push(self, finite: bool) -> None:
        """Say the displacement; what is not finite bypasses memories."""
        line = self.up if finite else self.up.direct
        payload = line.send(self.delta)
        if self.near is not None:
            self.answer = self.near.push(line)
        else:
            self.answer = self.comm.irecv(self.box, self.rank, PULL)
            self.comm.isend(payload, self.rank, PUSH)

    def pull(self) -> None:
        """Move the anchor to what the server answered."""
        if self.near is not None:
            self.anchor[...] = self.near.told
        else:
            self.anchor[...] = self.down.receive(self.rank, self.box[: self.answer.nbytes])
