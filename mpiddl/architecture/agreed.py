"""The model that rounds have made so far, each begun by some: see eager.py."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import inf

from mpiddl.arrays import Array
from mpiddl.replica import Lane

__all__ = ["Agreed", "slowest"]


def slowest(counts: Sequence[int], clocks: Sequence[int]) -> float:
    """Return the least of `counts` that is not yet its worker's number of `clocks`; inf: none."""
    behind = (count for count, end in zip(counts, clocks, strict=True) if count < end)
    return min(behind, default=inf)


class Agreed:
    """The model x (b,) after so many rounds, and how many clocks of each worker are in it.

    A script says when a rank reads how many; rounds that are too early then wait.

    Parameters
    ----------
    lane : Lane
        Where it begins, and its outer optimizer.
    clocks : sequence of int
        Number of clocks of each worker.
    until : int or None
        Rounds that x may hold for now; None: all that come.
    """

    def __init__(self, lane: Lane, clocks: Sequence[int], until: int | None) -> None:
        self.x, self.outer, self.clocks, self.until = lane.anchor.copy(), lane.outer, clocks, until
        self.counts: Sequence[int] = [0] * len(clocks)
        self.slowest: float = 0  # clocks in x of the slowest worker that is not complete; inf: none
        self.rounds = 0
        self.early: deque[tuple[Array, Sequence[int]]] = deque()

    def put(self, mean: Array, counts: Sequence[int]) -> None:
        """Take in the `mean` (b,) of a round, after which so many clocks of each worker are in."""
        if self.rounds == self.until:
            self.early.append((mean.copy(), counts))
        else:
            self._move(mean, counts)

    def go_to(self, until: int | None) -> None:
        """Let x hold `until` rounds."""
        self.until = until
        while self.early and self.rounds != until:
            self._move(*self.early.popleft())

    def _move(self, mean: Array, counts: Sequence[int]) -> None:
        self.outer.apply(self.x, mean, sum(self.counts) // len(self.clocks))
        self.counts, self.rounds = counts, self.rounds + 1
        self.slowest = slowest(counts, self.clocks)
