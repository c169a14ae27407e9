"""A channel for vectors whose last entry is said exactly: push-sum divides by it.

The last entry (of the vector's own width) follows the payload of the others.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from mpiddl.arrays import Array, namespace
from mpiddl.compression import Channel, Compressor, Key, Line
from mpiddl.errors import ProtocolError

__all__ = ["Weighted"]


@dataclass(frozen=True)
class Weighted:
    """The channel `words` for all entries but the last."""

    words: Channel

    @property
    def compressor(self) -> Compressor:
        """That of the words."""
        return self.words.compressor

    @property
    def remembers(self) -> bool:
        """Whether the words remember."""
        return self.words.remembers

    @property
    def refers(self) -> bool:
        """Whether the words refer."""
        return self.words.refers

    def open(self, like: Array, key: Key, start: Array | None = None) -> WeightedLine:
        """Return a line for vectors like `like` (b + 1,) whose references begin at `start` or 0."""
        begin = None if start is None else start[:-1]
        return WeightedLine(self.words.open(like[:-1], key, begin), like)


class WeightedLine:
    """The live end: the line of the others, and buffers."""

    linear = False

    def __init__(self, inner: Line, like: Array) -> None:
        xp = namespace(like)
        self.inner, self.width = inner, like.itemsize
        self.capacity = inner.capacity + self.width
        self.payload = xp.empty(self.capacity, xp.uint8)
        self.meant, self.heard = xp.empty_like(like), xp.empty_like(like)
        self.direct: Line = self
        if inner.direct is not inner:
            self.direct = WeightedLine(inner.direct, like)

    def send(self, v: Array) -> Array:
        """Encode `v` (b + 1,); return the payload, uint8 (used,)."""
        words = self.inner.send(v[:-1])
        payload = self.payload[: words.size + self.width]
        payload[: words.size] = words
        payload[words.size :] = v[-1:].view("uint8")  # bytes: the place need not be aligned
        self.meant[-1:] = v[-1:]
        return payload

    def said(self) -> Array:
        """Return what the last payload means to those who hear it, (b + 1,)."""
        self.meant[:-1] = self.inner.said()
        return self.meant

    def receive(self, source: int, payload: Array) -> Array:
        """Return what the next payload of `source` means, (b + 1,)."""
        words = payload.size - self.width
        self.heard[:-1] = self.inner.receive(source, payload[:words])
        self.heard[-1:].view("uint8")[...] = payload[words:]
        return self.heard

    def rounds(self, v: Array) -> Generator[Array, Array, Array]:
        """Refuse: payloads with a weight are not summed."""
        raise ProtocolError("payloads that end with a weight were to be summed")
