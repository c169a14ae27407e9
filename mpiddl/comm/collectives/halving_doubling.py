"""Recursive halving and doubling: swap halves, then halves of halves, and all the way back.

Idea    In step i = 1..k a member and the one 2^(i-1) away share a window of the vector: each sends
        the half that the other keeps, and adds what it gets to its own half. After k steps every
        member holds the sum of its window; the same steps backwards bring all windows together.
        With n = 2^k + r ranks the first 2 r fold to r members (see blocks.py).
Cost    2 k 2^k + 2 r messages, 2 (n-1) m bytes in all. Time
            sum over i = 1..k of (2 al + 2 be c_i w + ga c_i w),   c_i = ceil(b / 2^i),
        and if r > 0: + 2 (al + be m) + ga m. Halves are cut ceil first, so member 0 always keeps
        the larger one and the sum is its own time.
Order   Near ranks first: half of all bytes go to the neighbour, which on real machines shares the
        node, and only small windows cross the slow links between nodes.
Sums    A binary tree over the ranks, near ones first, wherever an entry lies in the vector (to the
        bit as recursive doubling): cutting the vector into pieces changes nothing.
Source  Rabenseifner, "Optimization of collective reduction operations", 2004; Thakur, Rabenseifner
        & Gropp, 2005.
"""

from __future__ import annotations

from mpiddl.arrays import Array, namespace
from mpiddl.comm import Communicator
from mpiddl.comm.buffers import require_target
from mpiddl.comm.collectives import allreduces
from mpiddl.comm.collectives.blocks import fold_in, fold_out, levels, rank_of
from mpiddl.comm.engine import Task

__all__ = ["allreduce"]


@allreduces.register("halving_doubling")
def allreduce(comm: Communicator, x: Array, tag: int = 0) -> Task[None]:
    """Sum x (b,) over all ranks, in place."""
    require_target(x)
    scratch = namespace(x).empty(x.size, x.dtype)
    member = yield from fold_in(comm, x, scratch, tag)
    if member is not None:
        yield from _among_members(comm, x, scratch, member, tag)
    yield from fold_out(comm, x, tag)


def _among_members(
    comm: Communicator, x: Array, scratch: Array, member: int, tag: int
) -> Task[None]:
    window, way_back = x, []
    for level in range(levels(comm.size)):
        peer = rank_of(member ^ (1 << level), comm.size)
        middle = (window.size + 1) // 2
        kept, given = window[:middle], window[middle:]
        if member >> level & 1:
            kept, given = given, kept
        room = scratch[: kept.size]
        yield [comm.irecv(room, peer, tag), comm.isend(given, peer, tag)]
        yield comm.add(kept, room)
        way_back.append((peer, kept, given))
        window = kept
    for peer, kept, given in reversed(way_back):
        yield [comm.irecv(given, peer, tag), comm.isend(kept, peer, tag)]
