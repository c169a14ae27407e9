"""Differences: what changed is said, and both ends keep what is believed of the speaker.

Source  Koloskova, Stich & Jaggi, "Decentralized stochastic optimization and gossip algorithms with
        compressed communication", ICML 2019, Algorithm 1 (CHOCO).  arXiv:1902.00340;  Richtarik,
        Sokolov & Fatkhullin, "EF21: a new, simpler, theoretically better, and practically faster
        error feedback", NeurIPS 2021, Algorithm 2.  arXiv:2106.05203
Paper   q = C(v - h);   send q;   both ends:  h <- h + q
Letters v `v` (b,) | h `mine` at the speaker, `theirs[source]` at the hearers | C(v - h) `said`
Quality v that stays the same is heard exactly in the end: |v - h|^2 shrinks by 1 - delta a message
Differs from the paper: references begin at a vector that all know, 0 (EF21 may begin at C(v_0)) or
x_0 where models travel; a vector that is not finite bypasses them (`direct`); an unbiased C is
scaled by 1 / (1 + omega). One reference (b,) per speaker heard, made when it is first heard.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

from mpiddl.arrays import Array, namespace
from mpiddl.compression import Compressor, Key, Line
from mpiddl.compression.direct import contraction, finish

__all__ = ["Difference"]


@dataclass(frozen=True)
class Difference:
    """A line whose two ends keep what is believed of the speaker."""

    compressor: Compressor
    remembers: ClassVar[bool] = False
    refers: ClassVar[bool] = True

    def __str__(self) -> str:
        return f"diff+{self.compressor}"

    def open(self, like: Array, key: Key, start: Array | None = None) -> DifferenceLine:
        """Return a line for vectors like `like` (b,) whose references begin at `start` or 0."""
        begin = namespace(like).zeros_like(like) if start is None else start.copy()
        return DifferenceLine(contraction(self.compressor, like, key), begin, key.speaker)


class DifferenceLine:
    """The live end: a direct line, and one reference (b,) per speaker."""

    def __init__(self, inner: Line, start: Array, speaker: int) -> None:
        self.direct, self.start, self.speaker = inner, start, speaker
        self.linear, self.capacity = inner.linear, inner.capacity
        self.mine = start.copy()
        self.theirs: dict[int, Array] = {}
        self.mean: Array | None = None  # of all references, where only sums are heard
        self.gap = namespace(start).empty_like(start)

    def send(self, v: Array) -> Array:
        """Encode v - h (b,); move h; return the payload, uint8 (used,)."""
        namespace(v).subtract(v, self.mine, out=self.gap)
        payload = self.direct.send(self.gap)
        self.mine += self.direct.said()
        return payload

    def said(self) -> Array:
        """Return h, what all believe of this speaker now, (b,)."""
        return self.mine

    def receive(self, source: int, payload: Array) -> Array:
        """Return what is now believed of `source`, (b,); my own h moved when it was sent."""
        if source == self.speaker:
            return self.mine
        if source not in self.theirs:
            self.theirs[source] = self.start.copy()
        self.theirs[source] += self.direct.receive(source, payload)
        return self.theirs[source]

    def rounds(self, v: Array) -> Generator[Array, Array, Array]:
        """Say v - h by sums: the mean of all h moves by the mean of what was said."""
        namespace(v).subtract(v, self.mine, out=self.gap)
        rounds = self.direct.rounds(self.gap)
        part = next(rounds)  # encoded, not yet summed: what I say can still be read
        self.mine += self.direct.said()
        if self.mean is None:
            self.mean = self.start.copy()
        self.mean += yield from finish(rounds, part)
        return self.mean
