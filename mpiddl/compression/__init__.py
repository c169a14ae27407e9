"""Room 3, in what words: compressors, and the channels that give them a memory.

A *compressor* is stateless: it turns a vector into a payload of bytes and back. A *channel* is
what the two ends of a line remember; it encloses a compressor. Neither ever sees a communicator.

| text          | compressor | class                      | bytes for b entries of w bytes        |
|---------------|------------|----------------------------|---------------------------------------|
| `identity`    | Identity   | omega = 0                  | b w                                   |
| `topk:r`      | TopK       | delta = k / b              | k (4 + w), k = ceil(r b)              |
| `randk:r`     | RandK      | omega = b / k - 1          | k w                                   |
| `sign`        | ScaledSign | delta >= 1 / b             | ceil(b / 8) + w                       |
| `qsgd:s`      | QSGD       | omega <= sqrt(b) / s       | w + ceil(b (1 + ceil(log2(s+1))) / 8) |
| `fp16`        | Half       | delta = 1 - 2^-22 - b/2^78 | 2 b + 2                               |
| `terngrad`    | TernGrad   | omega = (sqrt(b) - 1) / 2  | w + ceil(b / 5)                       |
| `natural`     | Natural    | omega = 1 / 8              | ceil(b (9 or 12 where w = 8) / 8)     |
| `onebit`      | OneBit     | delta >= 1 / b             | ceil(b / 8) + 2 w                     |
| `bf16`        | BFloat16   | delta = 1 - 2^-16          | 2 b, and 2 where w = 8                |
| `dithering:s` | Dithering  | omega, see its file        | w + ceil(b (1 + ceil(log2(s+1))) / 8) |
| `int8:k`      | Int8       | delta >= 1 - (k-2)/2/255^2 | b + 2 w ceil(b / k)                   |
| `ternary:r`   | Ternary    | delta = min(k / b, 1 / k)  | 4 k + ceil(k / 8) + w                 |

| text     | channel       | memory                          | needs         | remembers | refers |
|----------|---------------|---------------------------------|---------------|-----------|--------|
| `C`      | Direct        | none                            | any C         |           |        |
| `ef+C`   | ErrorFeedback | the speaker's: what C lost      | a contraction | yes       |        |
| `diff+C` | Difference    | both ends': what was believed   | a contraction |           | yes    |

Memories need contractions: around an unbiased C with omega > 0 they say C / (1 + omega), a
contraction with delta = 1 / (1 + omega). The factor is applied where a payload is decoded, at both
ends alike (`Unbiased.factor`, direct.py).

A word is `linear` if payloads may be summed: identity, and randk with a shared mask. Numbers that
are not finite are never hidden by any word, and a vector of zeros comes back as zeros.
Reading order: identity.py, direct.py, topk.py, error_feedback.py, difference.py, wire.py, then any.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

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
    """E C(v) = v and E|C(v) - v|^2 <= omega |v|^2.

    `independent` says whether the errors of different speakers are: if not, as where all draw one
    mask, the error of their mean is not divided by their number.
    """

    omega: float
    independent: bool = True

    @property
    def factor(self) -> float:
        """What makes C a contraction: factor C."""
        return 1 / (1 + self.omega)

    @property
    def delta(self) -> float:
        """The delta of that contraction."""
        return 1 / (1 + self.omega)


@dataclass(frozen=True)
class Contractive:
    """E|C(v) - v|^2 <= (1 - delta) |v|^2 with 0 < delta <= 1."""

    delta: float
    factor: ClassVar[float] = 1.0  # it is one already


@dataclass(frozen=True)
class Key:
    """The key of one message; both ends know it, so it is never sent.

    `speaker` is the rank that encodes, `bucket` the piece of the vector and `shard` the part of it
    that one server holds, `turn` the number of messages before this one on the same line.
    """

    seed: int
    speaker: int
    bucket: int
    turn: int = 0
    shard: int = 0

    def at(self, turn: int) -> Key:
        """Return the key of message number `turn`."""
        return replace(self, turn=turn)

    def private(self) -> np.random.Generator:
        """Return the stream of this speaker: receivers can repeat its draws."""
        return stream(self.seed, Purpose.COMPRESSION, *self._place, self.speaker)

    def shared(self) -> np.random.Generator:
        """Return the stream that is the same on every rank."""
        return stream(self.seed, Purpose.COMPRESSION, *self._place)

    @property
    def _place(self) -> tuple[int, int, int]:
        return self.bucket, self.shard, self.turn


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

    @property
    def refers(self) -> bool:
        """Whether both ends keep what is believed of the speaker."""

    def open(self, like: Array, key: Key, start: Array | None = None) -> Line:
        """Return a line with fresh memory for vectors like `like` (b,), spoken by `key.speaker`.

        References begin at `start` (b,), or at 0.
        """


compressors: Registry[Any] = Registry("mpiddl.compression", "compressor")
