"""A channel without memory: what the compressor loses is lost.

Paper   send C(v);  the receiver hears C(v)
Letters v `v` (b,)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import ClassVar

from mpiddl.arrays import Array, namespace
from mpiddl.compression import Compressor, Key, Line

__all__ = ["Direct", "contraction", "finish"]


@dataclass(frozen=True)
class Direct:
    """Every message says C(v) and is forgotten."""

    compressor: Compressor
    remembers: ClassVar[bool] = False
    refers: ClassVar[bool] = False

    def __str__(self) -> str:
        return str(self.compressor)

    def open(self, like: Array, key: Key, start: Array | None = None) -> DirectLine:
        """Return a line for vectors like `like` (b,)."""
        return DirectLine(self.compressor, like, key)


def contraction(compressor: Compressor, like: Array, key: Key) -> DirectLine:
    """Return a line that says a contraction: what memories are built on."""
    return DirectLine(compressor, like, key, compressor.quality(like.size).factor)


def finish(rounds: Generator[Array, Array, Array], part: Array) -> Generator[Array, Array, Array]:
    """Go on with `rounds`, which has yielded `part` and waits for its mean."""
    while True:
        try:
            part = rounds.send((yield part))
        except StopIteration as stop:
            return stop.value


class DirectLine:
    """The live end: buffers, and a count of turns per speaker; what is heard is `factor` C(v)."""

    def __init__(self, compressor: Compressor, like: Array, key: Key, factor: float = 1.0) -> None:
        xp = namespace(like)
        self.compressor, self.key, self.factor = compressor, key, factor
        self.linear = compressor.linear
        self.direct: Line = self
        self.wire = compressor.wire(like.size, like.dtype)
        self.capacity = self.wire.nbytes
        self.payload = xp.empty(self.capacity, xp.uint8)
        self.used = 0
        self.turns: defaultdict[int, int] = defaultdict(int)
        self.meant = xp.empty_like(like)  # what I said
        self.heard = xp.empty_like(like)  # what somebody said last

    def send(self, v: Array) -> Array:
        """Encode `v` (b,); return the payload, uint8 (used,)."""
        self.used = self.compressor.encode(v, self.payload, self._next(self.key.speaker))
        return self.payload[: self.used]

    def said(self) -> Array:
        """Decode the last payload as the others will, (b,)."""
        last = self.turns[self.key.speaker] - 1
        return self._decode(self.payload[: self.used], self.meant, self.key.at(last))

    def receive(self, source: int, payload: Array) -> Array:
        """Decode the next payload of `source`; my own counts as heard when it was sent."""
        key = self.key.at(self.turns[source] - 1) if source == self.key.speaker else None
        return self._decode(payload, self.heard, key or self._next(source))

    def rounds(self, v: Array) -> Generator[Array, Array, Array]:
        """Sum the payloads' values instead of decoded vectors: one round."""
        self.send(v)
        key = self.key.at(self.turns[self.key.speaker] - 1)  # others may be said before the mean
        values = self.wire.views(self.payload).values
        mean = yield values
        values[...] = mean
        return self._decode(self.payload[: self.used], self.meant, key)

    def _decode(self, payload: Array, out: Array, key: Key) -> Array:
        self.compressor.decode(payload, out, key)
        if self.factor != 1:
            out *= self.factor
        return out

    def _next(self, speaker: int) -> Key:
        turn = self.turns[speaker]
        self.turns[speaker] += 1
        return replace(self.key, speaker=speaker, turn=turn)
