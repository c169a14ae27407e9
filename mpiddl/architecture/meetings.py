"""Who meets whom in pairwise averaging: drawn by the seed, so that everybody knows it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from mpiddl.architecture.scripts import REMEDY
from mpiddl.arrays import Purpose, stream
from mpiddl.errors import ConfigurationError
from mpiddl.ledger import SHOWN, Script

__all__ = ["partners", "require_meetings"]


def partners(links: Any, seed: int, clocks: Sequence[int]) -> list[Any]:
    """Return by worker whom it asks after each clock, int (clocks,); (0,) if it has no neighbour.

    Parameters
    ----------
    links : bool array (n, n)
        Who may meet whom.
    seed : int
        The one seed of the run.
    clocks : sequence of int
        Number of clocks of each worker.
    """
    whom = np.asarray(links, dtype=bool)
    return _drawn(whom.tobytes(), seed, tuple(clocks))


@lru_cache(maxsize=4)  # every rank of a simulated world asks for it
def _drawn(links: bytes, seed: int, clocks: tuple[int, ...]) -> list[Any]:
    whom = np.frombuffer(links, dtype=bool).reshape(len(clocks), -1)
    asked = []
    for worker, end in enumerate(clocks):
        near = np.flatnonzero(whom[worker])
        draws = stream(seed, Purpose.PARTNERS, worker).integers(max(near.size, 1), size=end)
        asked.append(near[draws] if near.size else near)
    return asked


def require_meetings(script: Script, asked: Sequence[Any]) -> None:
    """Raise ConfigurationError unless ranks come to their ends if events have these orders.

    Parameters
    ----------
    script : mapping
        By (lane, rank): the rank itself where it asks or reads, in turn, else whom it answers.
    asked : sequence of int array
        By worker, whom it asks after each of its clocks.
    """
    left = {at: [*map(int, reversed(order))] for at, order in script.items() if at[0] != SHOWN}
    own = dict.fromkeys(left, 0)  # asks and reads so far
    met = dict.fromkeys(left, 0)  # how often it has been answered
    lanes = defaultdict(list)
    for place in left:
        lanes[place[1]].append(place)

    def can(place: tuple[int, int], who: int) -> bool:
        """Whether `who`, asking, reading or being answered, can be next at `place`."""
        lane, rank = place
        if who != rank:
            asker, count = (lane, who), met.get((lane, who), 0)
            asks = (own.get(asker, 0) + 1) // 2
            return bool(count < asks and asked[who][count] == rank)
        if own[place] % 2:
            return not asked[rank].size or met[place] == (own[place] + 1) // 2
        return all(own[other] >= own[place] for other in lanes[rank])

    moved = True
    while moved:
        moved = False
        for place, events in left.items():
            while events and can(place, events[-1]):
                who, moved = events.pop(), True
                (own if who == place[1] else met)[place[0], who] += 1
    if any(left.values()):
        raise ConfigurationError(
            "ranks that follow the script would wait for each other for ever, or for meetings that "
            f"this seed has not: {REMEDY}"
        )
