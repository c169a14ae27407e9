"""Dissemination barrier: nobody leaves before everybody has come.

Idea    In round j = 0, 1, .. rank i tells rank i + 2^j and hears from rank i - 2^j (cyclic): after
        it, rank i knows of the 2^(j+1) ranks up to itself.
Cost    n ceil(log2 n) empty messages; time ceil(log2 n) al.
Source  Hensgen, Finkel & Manber, "Two algorithms for barrier synchronization", 1988.
"""

from __future__ import annotations

import numpy as np

from mpiddl.comm import Communicator
from mpiddl.comm.engine import Task

__all__ = ["barrier"]


def barrier(comm: Communicator, tag: int = 0) -> Task[None]:
    """Return on each rank once every rank has called."""
    nothing = np.empty(0, np.uint8)
    distance = 1
    while distance < comm.size:
        source, dest = (comm.rank - distance) % comm.size, (comm.rank + distance) % comm.size
        yield [comm.irecv(nothing, source, tag), comm.isend(nothing, dest, tag)]
        distance *= 2
