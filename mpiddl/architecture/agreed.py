"""What a rank keeps of an all-reduce that some begin: what it has yet to say, and what is agreed.

See eager.py. A script makes a rank say and read what it did before: then pushes are kept apart by
the rounds in which they are said, and rounds that come too early wait.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence

import numpy as np

from mpiddl.architecture.caller import slowest
from mpiddl.arrays import Array, namespace
from mpiddl.replica import Lane

__all__ = ["Agreed", "Outbox"]


class Outbox:
    """What was pushed and not yet said: one sum (b,), or one for each round to come.

    Parameters
    ----------
    like : array (b,)
        A vector of this kind.
    cuts : collection of int
        The clocks that begin a new sum; others are added to what is there.
    """

    def __init__(self, like: Array, cuts: Collection[int]) -> None:
        self.nothing, self.cuts = namespace(like).zeros_like(like), frozenset(cuts)
        self.pushed = self.said = 0  # clocks
        self.sums: deque[tuple[Array, list[bool], int]] = deque()
        self.spare: list[Array] = []

    def put(self, delta: Array, finite: bool, read: int) -> None:
        """Add `delta` (b,), of gradients taken after `read` rounds."""
        if self.sums and self.pushed not in self.cuts:
            total, known, _ = self.sums[-1]
            total += delta
            known.append(finite)
        else:
            total = self.spare.pop() if self.spare else namespace(delta).empty_like(delta)
            total[...] = delta
            self.sums.append((total, [finite], read))
        self.pushed += 1

    def take(self, many: int, rounds: int) -> tuple[int, Array, bool]:
        """Return what is new of the first `many` clocks, (b,): to be said before the next push.

        First comes how many of so many `rounds` its oldest gradient does not know, -1 if nothing
        is new, last whether it is finite.
        """
        if many == self.said:
            return -1, self.nothing, True
        self.said = many
        total, known, read = self.sums.popleft()
        self.spare.append(total)
        return rounds - read, total, all(known)


class Agreed:
    """The model x (b,) after so many rounds, and how many clocks of each worker are in it.

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
        self.counts, self.rounds = np.zeros(len(clocks)), 0
        self.early: deque[tuple[Array, Array]] = deque()

    @property
    def slowest(self) -> float:
        """Clocks in x of the worker with the fewest, of those that are not complete; inf: none."""
        return slowest(self.counts.tolist(), self.clocks)

    def put(self, mean: Array, counts: Array) -> None:
        """Take in the `mean` (b,) of a round, after which `counts` (n,) clocks are in."""
        if self.rounds == self.until:
            self.early.append((mean.copy(), counts))
        else:
            self._move(mean, counts)

    def go_to(self, until: int | None) -> None:
        """Let x hold `until` rounds."""
        self.until = until
        while self.early and self.rounds != until:
            self._move(*self.early.popleft())

    def _move(self, mean: Array, counts: Array) -> None:
        self.outer.apply(self.x, mean, int(self.counts.sum()) // len(self.clocks))
        self.counts, self.rounds = counts, self.rounds + 1
