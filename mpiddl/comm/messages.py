"""One message under MPI: its chunks, and what is counted when they come.

MPI counts in 32 bits, so a long message travels as chunks of one tag, each a message that is
counted. It ends with the first chunk that is not full: an empty one if the chunk size divides the
message. So both ends agree whatever room the receiver has; later receives of the same line wait
until a long one has ended (transfers.py), else they would take its chunks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mpiddl.arrays import Array
from mpiddl.comm import Request, Traffic
from mpiddl.errors import ConfigurationError

__all__ = ["Incoming", "Line", "Outgoing", "chunks", "require_chunk"]

LARGEST = (1 << 31) - 8  # bytes that every MPI can count


def require_chunk(chunk_bytes: int) -> None:
    """Raise ConfigurationError unless chunks hold whole numbers of every dtype that travels."""
    if chunk_bytes % 8 or not 8 <= chunk_bytes <= LARGEST:
        raise ConfigurationError(
            f"chunk_bytes is a multiple of 8 in [8, {LARGEST}], found {chunk_bytes}"
        )


def chunks(wire: Array, chunk_bytes: int) -> list[Array]:
    """Return the pieces of `wire` (b,): full ones, then one that is shorter, perhaps empty."""
    if wire.nbytes < chunk_bytes:
        return [wire]
    full = chunk_bytes // wire.itemsize
    return [wire[start : start + full] for start in range(0, wire.size + 1, full)]


class Outgoing(Request):
    """A send of `parts` chunks, or another operation of which MPI tells no more than its end."""

    __slots__ = ("parts", "raw")

    def __init__(self, label: str, raw: Any, parts: int = 1) -> None:
        super().__init__(label)
        self.raw, self.parts = raw, parts

    def advance(self, status: Any) -> None:
        """Note that one part has ended."""
        self.parts -= 1
        if not self.parts:
            self.finish()


class Line:
    """Where messages of one kind go or come from, made once for all of them.

    Parameters
    ----------
    raw, datatype : object
        MPI's communicator and datatype.
    peer, tag : int
        As MPI knows them.
    traffic : Traffic
        Where messages are counted.
    """

    __slots__ = ("datatype", "key", "peer", "raw", "receiving", "sending", "tag", "traffic")

    def __init__(self, raw: Any, datatype: Any, peer: int, tag: int, traffic: Traffic) -> None:
        self.raw, self.datatype, self.peer, self.tag = raw, datatype, peer, tag
        self.traffic = traffic
        self.key = id(raw), peer, tag  # what tells receives of this line from others
        self.sending = f"send to {peer}, tag {tag}"
        self.receiving = f"recv from {peer}, tag {tag}"


class Incoming(Request):
    """A message to be received into `wire` (b,); `deliver` is told its bytes before it is done."""

    __slots__ = ("_came", "_chunk_bytes", "_deliver", "_wire", "line", "long")

    def __init__(
        self,
        line: Line,
        wire: Array,
        chunk_bytes: int,
        deliver: Callable[[int], None] | None = None,
    ) -> None:
        super().__init__(line.receiving)
        self.line, self._wire, self._chunk_bytes, self._deliver = line, wire, chunk_bytes, deliver
        self.long = bool(wire.nbytes >= chunk_bytes)  # room for several chunks, were one empty
        self._came = 0

    @property
    def raw(self) -> Any:
        """MPI's communicator."""
        return self.line.raw

    def post(self) -> Any:
        """Ask MPI for the next chunk; return its request."""
        piece, line = self._wire, self.line
        if self.long:
            start = self._came // piece.itemsize
            piece = piece[start : start + self._chunk_bytes // piece.itemsize]
        return line.raw.Irecv([piece, line.datatype], line.peer, line.tag)

    def advance(self, status: Any) -> Any:
        """Note that a chunk came; return MPI's request for the next one, None after the last."""
        nbytes = status.Get_count()  # of bytes
        self.line.traffic.receive(self.line.peer, nbytes)
        self._came += nbytes
        if nbytes == self._chunk_bytes:
            return self.post()
        if self._deliver is not None:
            self._deliver(self._came)
        self.finish(self._came)
        return None
