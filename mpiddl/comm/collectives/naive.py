"""Naive all-reduce: everybody tells rank 0, which tells everybody.

Idea    Rank 0 receives one vector after another and adds them in the order of the ranks, then
        sends the sum to one rank after another.
Cost    2 (n-1) messages, 2 (n-1) m bytes in all.
        Time 2 (n-1)(al + be m) + (n-1) ga m: everything passes through the ports of rank 0.
Sums    In the order of the ranks, wherever an entry lies in the vector.
Source  The plain definition; the baseline that the others are measured against.
"""

from __future__ import annotations

from mpiddl.arrays import Array, namespace
from mpiddl.comm import Communicator
from mpiddl.comm.buffers import require_target
from mpiddl.comm.collectives import allreduces
from mpiddl.comm.engine import Task

__all__ = ["allreduce"]


@allreduces.register("naive")
def allreduce(comm: Communicator, x: Array, tag: int = 0) -> Task[None]:
    """Sum x (b,) over all ranks, in place."""
    require_target(x)
    if comm.rank:
        yield comm.isend(x, 0, tag)
        yield comm.irecv(x, 0, tag)
        return
    scratch = namespace(x).empty(x.size, x.dtype)
    for source in range(1, comm.size):
        yield comm.irecv(scratch, source, tag)
        yield comm.add(x, scratch)
    for dest in range(1, comm.size):
        yield comm.isend(x, dest, tag)
