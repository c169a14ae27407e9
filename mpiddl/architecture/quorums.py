"""How many ranks must have something to say before a round of an all-reduce begins."""

from __future__ import annotations

from mpiddl.comm.collectives.native import require_tags
from mpiddl.errors import ConfigurationError
from mpiddl.optim import Pair, Seats
from mpiddl.synchronization import Synchronization

__all__ = ["need", "require_eager"]


def need(quorum: str | int, size: int) -> int:
    """Return how many of `size` ranks make a `quorum`; ConfigurationError if it is none."""
    names = {"all": size, "majority": size // 2 + 1, "solo": 1}
    if isinstance(quorum, str) and quorum in names:
        return names[quorum]
    if type(quorum) is not int or quorum < 1:
        raise ConfigurationError(
            f"a quorum is all, majority, solo or a number of ranks of at least 1, found {quorum!r}"
            ": write allreduce:quorum=majority"
        )
    return quorum


def require_eager(whom: object, seats: Seats, sync: Synchronization, size: int) -> None:
    """Raise ConfigurationError where rounds cannot be begun by a quorum.

    Parameters
    ----------
    whom : object
        The architecture, with its `collective` and `quorum`.
    seats : Seats
        Who moves.
    sync : Synchronization
        When workers speak.
    size : int
        Number of ranks.
    """
    quorum = getattr(whom, "quorum", "all")
    if not sync.staleness:
        raise ConfigurationError(
            f"under {sync} nothing may be missing, so a round waits for all: leave "
            f"quorum={quorum} out, or use ssp:2 with it"
        )
    if need(quorum, size) > size:
        raise ConfigurationError(
            f"{quorum} ranks never come where there are {size}: write a quorum of {size} at most"
        )
    require_tags(getattr(whom, "collective", ""))
    if isinstance(seats.outer, Pair):
        raise ConfigurationError(
            f"{seats.outer} sees steps and agreements of a worker in turn, but rounds end when "
            "they will: use it with quorum=all"
        )
