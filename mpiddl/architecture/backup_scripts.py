"""Whether servers with backup workers can follow a script: whose pushes they take in, in turn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mpiddl.architecture.scripts import REMEDY
from mpiddl.errors import ConfigurationError
from mpiddl.ledger import Script

__all__ = ["can_be_followed", "require_rounds"]


def require_rounds(
    script: Script, places: Iterable[tuple[int, int]], clocks: Sequence[int], spare: int
) -> None:
    """Raise ConfigurationError unless servers can take in pushes in the order of `script`.

    Parameters
    ----------
    script : mapping
        By (lane, server): the workers, in turn.
    places : iterable of tuple
        The (lane, server) that hold something.
    clocks : sequence of int
        Number of clocks of each worker.
    spare : int
        Workers that a round does not wait for.
    """
    if not can_be_followed([script.get(place, ()) for place in places], clocks, spare):
        raise ConfigurationError(
            f"the script is not one of rounds that close without {spare} of the workers that run "
            f"for clocks {tuple(clocks)}: {REMEDY}"
        )


class _Rounds:
    """One server: which round is open, who is in, and what each worker was last answered."""

    def __init__(self, order: Sequence[int], clocks: Sequence[int], spare: int) -> None:
        self.left, self.clocks, self.spare = list(reversed(order)), clocks, spare
        self.round, self.reached, self.joined = 0, [-1] * len(clocks), set[int]()

    def next_of(self, said: Sequence[int]) -> int:
        """Return who is next if that one has spoken here, else -1; `said`: of which clock each."""
        worker = self.left[-1] if self.left else -1
        if not 0 <= worker < len(said) or said[worker] >= self.clocks[worker]:
            return -1
        waits = self.reached[worker] == said[worker] - 1 and worker not in self.joined
        return worker if waits else -1

    def take(self, worker: int) -> None:
        """Take in the next push, which is of `worker`."""
        self.left.pop()
        answered = {worker}
        if self.reached[worker] + 1 == self.round:
            self.joined.add(worker)
            active = sum(self.round < end for end in self.clocks)
            if len(self.joined) < max(1, active - self.spare):
                return
            answered, self.joined = self.joined, set()
            self.round += 1
        for each in answered:
            self.reached[each] = self.round - 1


def can_be_followed(orders: Sequence[Sequence[int]], clocks: Sequence[int], spare: int) -> bool:
    """Return whether servers that take in pushes in these `orders` let every worker end.

    Parameters
    ----------
    orders : sequence of sequence of int
        By lane and server: the workers.
    clocks : sequence of int
        Number of clocks of each worker.
    spare : int
        Workers that a round does not wait for.
    """
    servers = [_Rounds(order, clocks, spare) for order in orders]
    said = [0] * len(clocks)  # the clock of which each worker speaks
    moved = True
    while moved:
        moved = False
        for server in servers:
            while (worker := server.next_of(said)) >= 0:
                server.take(worker)
                moved = True
        for worker, clock in enumerate(said):
            reached = min(server.reached[worker] for server in servers)
            if clock < clocks[worker] and reached >= clock:
                said[worker], moved = reached + 1, True
    ended = all(clock >= end for clock, end in zip(said, clocks, strict=True))
    return ended and not any(server.left for server in servers)
