"""Binomial tree: sums climb to rank 0, the result climbs down.

Idea    In round j = 0, 1, .. the ranks that are odd multiples of 2^j give their sums to the rank
        2^j below and wait; in as many rounds backwards rank 0 and those who know tell them.
Cost    2 (n-1) messages, 2 (n-1) m bytes in all.
        Time 2 ceil(log2 n)(al + be m) + ceil(log2 n) ga m: rank 0 takes part in every round, and
        it posts a receive only after the sum before, so that it adds and receives in turns.
Sums    A binary tree over the ranks, near ones first, wherever an entry lies in the vector.
Source  Thakur, Rabenseifner & Gropp, "Optimization of collective communication operations in
        MPICH", 2005, for the trees.
"""

from __future__ import annotations

from mpiddl.arrays import Array, namespace
from mpiddl.comm import Communicator
from mpiddl.comm.buffers import require_target
from mpiddl.comm.collectives import allreduces
from mpiddl.comm.engine import Task

__all__ = ["allreduce"]


@allreduces.register("tree")
def allreduce(comm: Communicator, x: Array, tag: int = 0) -> Task[None]:
    """Sum x (b,) over all ranks, in place."""
    require_target(x)
    scratch = namespace(x).empty(x.size, x.dtype)
    distance = 1
    while distance < comm.size and not comm.rank & distance:
        if comm.rank + distance < comm.size:
            yield comm.irecv(scratch, comm.rank + distance, tag)
            yield comm.add(x, scratch)
        distance *= 2
    if comm.rank:  # `distance` is its lowest bit: up to the parent, and back
        yield comm.isend(x, comm.rank - distance, tag)
        yield comm.irecv(x, comm.rank - distance, tag)
    while distance > 1:
        distance //= 2
        if comm.rank + distance < comm.size:
            yield comm.isend(x, comm.rank + distance, tag)
