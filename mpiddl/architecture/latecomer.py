"""A worker among backup workers: what it said in vain it says again. See backup.py."""

from __future__ import annotations

from typing import ClassVar

from mpiddl.architecture import Station
from mpiddl.architecture.server import Server
from mpiddl.architecture.shards import Shard
from mpiddl.architecture.worker import End
from mpiddl.arrays import Array, namespace, on_host
from mpiddl.compression import Channel

__all__ = ["HEAD", "Latecomer"]

HEAD = 8  # bytes before the payload of an answer, int32 each: the newest round, whether you were in


class Latecomer(End):
    """What it keeps for one server, and what it said in vain."""

    may_be_late: ClassVar[bool] = True
    head: ClassVar[int] = HEAD

    def __init__(self, station: Station, shard: Shard, down: Channel, near: Server | None) -> None:
        super().__init__(station, shard, down, near)
        self.late: Array = namespace(self.x).zeros_like(self.x)
        self.round, self.asks = -1, False  # of the last answer; whether another one is to come

    def push(self, clock: int, finite: bool) -> None:
        """Say the displacement and what came too late before; nothing if the round is over."""
        self.late += self.delta
        self.asks = self.round < clock
        if self.asks:
            self.say(self.late, finite)

    def closed(self, clock: int) -> bool:
        """Return whether the round of `clock` is known to be over."""
        return self.round >= clock

    def hear(self) -> None:
        """Move the anchor to the answer, if one came, and keep what was not taken."""
        if not self.asks:
            return
        self.asks = False
        super().hear()
        head = getattr(self.near, "news", None) or on_host(self.box[:HEAD].view("int32"))
        self.round = int(head[0])
        if head[1]:
            self.late[...] = 0
        else:
            self.late[...] = self.spoken.said()
