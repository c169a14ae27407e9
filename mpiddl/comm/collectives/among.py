"""Some of the ranks, as if they were all: a collective runs on them and knows no others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from mpiddl.arrays import Array
from mpiddl.comm import Communicator, Request

__all__ = ["among"]


class _Among:
    """What a collective asks of a communicator."""

    def __init__(self, comm: Communicator, ranks: Sequence[int]) -> None:
        self._comm, self._ranks = comm, ranks
        self.rank, self.size = ranks.index(comm.rank), len(ranks)
        self.add = comm.add

    def isend(self, buf: Array, dest: int, tag: int = 0) -> Request:
        return self._comm.isend(buf, self._ranks[dest], tag)

    def irecv(self, buf: Array, source: int, tag: int = 0) -> Request:
        return self._comm.irecv(buf, self._ranks[source], tag)


def among(comm: Communicator, ranks: Sequence[int]) -> Communicator:
    """Return `ranks` of `comm`, numbered in that order; this rank must be one of them.

    Two ranks may not be in two such groups whose collectives of one tag run side by side.
    """
    return cast(Communicator, _Among(comm, ranks))
