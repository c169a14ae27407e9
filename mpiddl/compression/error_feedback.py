"""Error feedback: what was not said is remembered and said later.

Source  Seide et al., "1-bit stochastic gradient descent", Interspeech 2014;  Stich, Cordonnier &
        Jaggi, "Sparsified SGD with memory", NeurIPS 2018, Algorithm 1.  arXiv:1809.07599
Paper   p = v + e;   send C(p);   e <- p - C(p)
Letters v `v` (b,), a displacement: the step size is already in it | e `memory` (b,) | C(p) `said`
Quality sum of all that was said + e = sum of all v, to rounding
Differs from the paper: v is the displacement of a clock, so that changing step sizes keep the
identity x_t - mean e_t exact; a vector that is not finite bypasses the memory (`direct`); an
unbiased C is scaled by 1 / (1 + omega), so that what is lost is less than what is meant.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

from mpiddl.arrays import Array, namespace
from mpiddl.compression import Compressor, Key, Line
from mpiddl.compression.direct import contraction, finish

__all__ = ["ErrorFeedback"]


@dataclass(frozen=True)
class ErrorFeedback:
    """A line whose speaker remembers what the compressor lost."""

    compressor: Compressor
    remembers: ClassVar[bool] = True
    refers: ClassVar[bool] = False

    def __str__(self) -> str:
        return f"ef+{self.compressor}"

    def open(self, like: Array, key: Key, start: Array | None = None) -> ErrorFeedbackLine:
        """Return a line with an empty memory for vectors like `like` (b,)."""
        return ErrorFeedbackLine(contraction(self.compressor, like, key), like)


class ErrorFeedbackLine:
    """The live end: a direct line and the memory e (b,)."""

    def __init__(self, inner: Line, like: Array) -> None:
        self.direct = inner
        self.linear, self.capacity = inner.linear, inner.capacity
        self.memory = namespace(like).zeros_like(like)

    def send(self, v: Array) -> Array:
        """Encode v + e (b,); keep what was lost; return the payload, uint8 (used,)."""
        self.memory += v
        payload = self.direct.send(self.memory)
        self.memory -= self.direct.said()
        return payload

    def said(self) -> Array:
        """Return C(v + e) of the last message, (b,)."""
        return self.direct.said()

    def receive(self, source: int, payload: Array) -> Array:
        """Return what `source` said, (b,): the memory is the speaker's alone."""
        return self.direct.receive(source, payload)

    def rounds(self, v: Array) -> Generator[Array, Array, Array]:
        """Say v + e by sums; keep what was lost."""
        self.memory += v
        rounds = self.direct.rounds(self.memory)
        part = next(rounds)  # encoded, not yet summed: what I say can still be read
        self.memory -= self.direct.said()
        return (yield from finish(rounds, part))
