"""MPI's own all-reduce, for reference; it exists only under MPI.

Idea    One call; the library chooses algorithm and order of sums, and hides its messages, so
        nothing is counted.
Cost    The library's.
Source  MPI-3.1, MPI_Iallreduce.
"""

from __future__ import annotations

from typing import Protocol, cast

from mpiddl.arrays import Array
from mpiddl.comm import Communicator, Request
from mpiddl.comm.collectives import allreduces
from mpiddl.comm.engine import Task
from mpiddl.errors import ConfigurationError

__all__ = ["allreduce", "require_tags"]


class Native(Communicator, Protocol):
    """A communicator with a sum of its own."""

    def iallreduce(self, x: Array) -> Request:
        """Start replacing x (b,) by the sum over all ranks."""


@allreduces.register("native")
def allreduce(comm: Communicator, x: Array, tag: int = 0) -> Task[None]:
    """Sum x (b,) over all ranks, in place; `tag` is not used: such calls match by their order."""
    yield cast(Native, comm).iallreduce(x)


def require_tags(collective: str) -> None:
    """Raise ConfigurationError if `collective` needs an order, where lanes begin when they will."""
    if collective == "native":
        raise ConfigurationError(
            "MPI's own all-reduces match by their order, but here those of several lanes begin "
            "when they will: use another than native"
        )
