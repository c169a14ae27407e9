"""Whether a script fits a run: the choices of an earlier one, by lane and place (see ledger.py)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import inf

from mpiddl.errors import ConfigurationError
from mpiddl.ledger import Script

__all__ = ["REMEDY", "can_be_followed", "require_choices", "require_orders"]

REMEDY = "take it from a run of the same variant, with the same workers and clocks"


def require_choices(script: Script, expected: Mapping[tuple[int, int], int]) -> None:
    """Raise ConfigurationError unless every (lane, place) has the `expected` number of choices."""
    for place in sorted({*script, *expected}):
        found, due = len(script.get(place, ())), expected.get(place, 0)
        if found != due:
            raise ConfigurationError(
                f"the script has {found} choices for place {place[1]} of lane {place[0]}, where "
                f"this run makes {due}: {REMEDY}"
            )


def require_orders(
    script: Script,
    servers: Mapping[tuple[int, int], int],
    clocks: Sequence[int],
    at_least: Callable[[int], int],
) -> None:
    """Raise ConfigurationError unless servers can take in pushes in the order of `script`.

    Parameters
    ----------
    script : mapping
        By (lane, server): the workers, in turn.
    servers : mapping
        By (lane, server): the rank of the server.
    clocks : sequence of int
        Number of clocks of each worker.
    at_least : callable
        From a clock to the clock of everyone that must be in before it is answered.
    """
    orders = [script.get(place, ()) for place in servers]
    for (place, rank), order in zip(servers.items(), orders, strict=True):
        if Counter(order) != Counter(dict(enumerate(clocks))):
            raise ConfigurationError(
                f"the script of lane {place[0]} on server {place[1]}, rank {rank}, is not for "
                f"clocks {tuple(clocks)}: {REMEDY}"
            )
    if not can_be_followed(orders, clocks, at_least):
        raise ConfigurationError(
            "workers and servers that follow the script would wait for each other for ever: "
            f"{REMEDY}"
        )


def can_be_followed(
    orders: Sequence[Sequence[int]], clocks: Sequence[int], at_least: Callable[[int], int]
) -> bool:
    """Return whether servers that take in pushes in these `orders` let every worker end.

    Parameters
    ----------
    orders : sequence of sequence of int
        By lane and server: the workers, each as often as it has clocks.
    clocks : sequence of int
        Number of clocks of each worker.
    at_least : callable
        From a clock to the clock of everyone that must be in before it is answered.
    """
    said = [1] * len(clocks)  # pushes of each worker: the first waits for nobody
    heard = [[0] * len(clocks) for _ in orders]
    left = [list(reversed(order)) for order in orders]
    moved = True
    while moved:
        moved, slowest = False, []
        for order, counts in zip(left, heard, strict=True):
            while order and counts[order[-1]] < said[order[-1]]:
                counts[order.pop()] += 1
                moved = True
            slowest.append(
                min((c for c, end in zip(counts, clocks, strict=True) if c < end), default=inf)
            )
        for worker, end in enumerate(clocks):
            due = at_least(said[worker] - 1)
            answers = (counts[worker] == said[worker] for counts in heard)
            if said[worker] < end and all(answers) and due < min(slowest, default=inf):
                said[worker] += 1
                moved = True
    return not any(left)
