"""Room 3, in what words: compressors, and the channels that give them a memory.

A *compressor* is stateless: it turns a vector into a payload of bytes and back. A *channel* is
what the two ends of a line remember; it encloses a compressor. Neither ever sees a communicator.

| text        | compressor | class       | bytes per vector of b entries of w bytes |
|-------------|------------|-------------|------------------------------------------|
| `identity`  | Identity   | omega = 0   | b w                                      |
| `topk:r`   | TopK       | contractive | k (4 + w), k = ceil(r b)                 |
| `sign`      | ScaledSign | contractive | ceil(b / 8) + w                          |

`C` alone is the channel Direct(C), `ef+C` is ErrorFeedback(C).
Reading order: identity.py, direct.py, topk.py, error_feedback.py, wire.py, sign.py.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from mpiddl.arrays import Array, Purpose, stream
from mpiddl.compression.wire import Wire
from mpiddl.registry import Registry

__all__ = [
    "Channel",
    "Compressor",
    "Contractive",
    "Key",
    "Line",
    "Unbiased",
    "compressors",
]


@dataclass(frozen=True)
class Unbiased:
    """E C(v) = v and E|C(v) - v|^2 <= omega |v|^2."""

    omega: float


@dataclass(frozen=True)
class Contractive:
    """E|C(v) - v|^2 <= (1 - delta) |v|^2 with 0 < delta <= 1."""

    delta: float


@dataclass(frozen=True)
class Key:
    """The key of one message; both ends know it, so it is never sent.

    `speaker` is the rank that encodes, `bucket` the piece of the vector, `turn` the number of
    messages before this one on the same line.
    """

    seed: int
    speaker: int
    bucket: int
    turn: int = 0

    def at(self, turn: int) -> Key:
        """Return the key of message number `turn`."""
        return replace(self, turn=turn)

    def private(self) -> np.random.Generator:
        """Return the stream of this speaker: receivers can repeat its draws."""
        return stream(self.seed, Purpose.COMPRESSION, self.bucket, self.turn, self.speaker)

    def shared(self) -> np.random.Generator:
        """Return the stream that is the same on every rank."""
        return stream(self.seed, Purpose.COMPRESSION, self.bucket, self.turn)


class Compressor(Protocol):
    """A stateless code for vectors; one frozen object serves all buckets."""

    @property
    def linear(self) -> bool:
        """Whether the field ``values`` of payloads may be summed instead of vectors."""

    def wire(self, b: int, dtype: Any) -> Wire:
        """Return the record that a vector of `b` entries of `dtype` may fill; a capacity."""

    def quality(self, b: int) -> Unbiased | Contractive:
        """Return what is guaranteed for every vector of `b` entries."""

    def encode(self, v: Array, payload: Array, key: Key) -> int:
        """Write `v` (b,), read only, into `payload` uint8 (capacity,); return the bytes used."""

    def decode(self, payload: Array, out: Array, key: Key) -> None:
        """Overwrite `out` (b,) with what `payload` uint8 (used,) says."""


class Line(Protocol):
    """The live end of a channel: one per bucket and rank; it owns all memory of the line."""

    linear: bool
    capacity: int  # most bytes of a payload
    direct: Line  # the same line without its memory, for words that must not be remembered

    def send(self, v: Array) -> Array:
        """Return the payload, uint8 (used,), that says `v` (b,); owned here until the next send."""

    def said(self) -> Array:
        """Return what the last payload means to those who hear it, (b,); owned here."""

    def receive(self, source: int, payload: Array) -> Array:
        """Return what the next payload of `source` means, (b,); owned here until the next call."""

    def rounds(self, v: Array) -> Generator[Array, Array, Array]:
        """Say `v` by sums, only if linear: yields an array, is sent the mean, returns the mean."""


class Channel(Protocol):
    """A frozen description of a line, e.g. ``ErrorFeedback(TopK(0.01))``."""

    @property
    def compressor(self) -> Compressor:
        """What turns vectors into bytes."""

    @property
    def remembers(self) -> bool:
        """Whether what is not said now is said later."""

    def open(self, like: Array, key: Key) -> Line:
        """Return a line with fresh memory for vectors like `like` (b,), spoken by `key.speaker`."""


compressors: Registry[Any] = Registry("mpiddl.compression", "compressor")
