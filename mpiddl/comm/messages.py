"""One message under MPI: its chunks, and what is counted when they come.

MPI counts in 32 bits, so a long message travels as chunks of one tag, each a message that is
counted. It ends with the first chunk that is not full: an empty one if the chunk size divides the
message. So both ends agree whatever room the receiver has; later receives of the same line wait
until a long one has ended (transfers.py), else they would take its chunks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

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


class Line(NamedTuple):
    """Where messages of one kind come from: MPI's communicator and datatype, the peer, the tag."""

    raw: Any
    datatype: Any
    source: int
    tag: int
    traffic: Traffic

    @property
    def key(self) -> tuple[int, int, int]:
        """What tells this line from others."""
        return id(self.raw), self.source, self.tag


class Incoming(Request):
    """A message to be received into `wire` (b,); `deliver` is told its bytes before it is done."""

    __slots__ = ("_came", "_chunk_bytes", "_deliver", "_wire", "line")

    def __init__(
        self,
        line: Line,
        wire: Array,
        chunk_bytes: int,
        deliver: Callable[[int], None] | None = None,
    ) -> None:
        super().__init__(f"recv from {line.source}, tag {line.tag}")
        self.line, self._wire, self._chunk_bytes, self._deliver = line, wire, chunk_bytes, deliver
        self._came = 0

    @property
    def raw(self) -> Any:
        """MPI's communicator."""
        return self.line.raw

    @property
    def long(self) -> bool:
        """Whether there is room for more than one chunk, were it an empty one."""
        return bool(self._wire.nbytes >= self._chunk_bytes)

    def post(self) -> Any:
        """Ask MPI for the next chunk; return its request."""
        piece, line = self._wire, self.line
        if self.long:
            start = self._came // piece.itemsize
            piece = piece[start : start + self._chunk_bytes // piece.itemsize]
        return line.raw.Irecv([piece, line.datatype], line.source, line.tag)

    def advance(self, status: Any) -> Any:
        """Note that a chunk came; return MPI's request for the next one, None after the last."""
        nbytes = status.Get_count()  # of bytes
        self.line.traffic.receive(self.line.source, nbytes)
        self._came += nbytes
        if nbytes == self._chunk_bytes:
            return self.post()
        if self._deliver is not None:
            self._deliver(self._came)
        self.finish(self._came)
        return None
