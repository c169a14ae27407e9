"""Recursive doubling: in step i every member swaps its whole sum with the one 2^i away.

Idea    After step i a member knows the sum over its group of 2^(i+1). With n = 2^k + r ranks the
        first 2 r fold to r members before, and unfold after (see blocks.py).
Cost    k 2^k + 2 r messages of m bytes in all.
        Time k (al + be m + ga m), and if r > 0: + 2 (al + be m) + ga m.
        Fewest start-ups, but k times the bytes: for short vectors.
Sums    A binary tree over the ranks, near ones first, wherever an entry lies in the vector; both
        partners add the same two numbers, so all ranks end with the same bits.
Source  Thakur, Rabenseifner & Gropp, "Optimization of collective communication operations in
        MPICH", 2005.
"""

from __future__ import annotations

from mpiddl.arrays import Array, namespace
from mpiddl.comm import Communicator
from mpiddl.comm.buffers import require_target
from mpiddl.comm.collectives import allreduces
from mpiddl.comm.collectives.blocks import fold_in, fold_out, levels, rank_of
from mpiddl.comm.engine import Task

__all__ = ["allreduce"]


@allreduces.register("recursive_doubling")
def allreduce(comm: Communicator, x: Array, tag: int = 0) -> Task[None]:
    """Sum x (b,) over all ranks, in place."""
    require_target(x)
    scratch = namespace(x).empty(x.size, x.dtype)
    member = yield from fold_in(comm, x, scratch, tag)
    if member is not None:
        for level in range(levels(comm.size)):
            peer = rank_of(member ^ (1 << level), comm.size)
            yield [comm.irecv(scratch, peer, tag), comm.isend(x, peer, tag)]
            yield comm.add(x, scratch)
    yield from fold_out(comm, x, tag)
