"""Ring all-reduce, its two halves, and a ring all-gather of payloads of any size.

Idea    Cut the vector into n blocks. In n-1 steps every block travels once around the ring and
        every rank adds its own part to it (reduce-scatter): rank i then holds the sum of block
        i+1. In n-1 more steps the finished blocks travel around (share).
Cost    All-reduce: 2 n (n-1) messages, 2 (n-1) m bytes in all; time
            2 (n-1)(al + be c w) + (n-1) ga c w,   c = ceil(b/n):
        the longest block makes 2 (n-1) hops and is added n-1 times; no other chain is longer.
        No algorithm moves fewer bytes per rank, but n-1 start-ups add up.
        All-gather of m bytes per rank: n (n-1) messages, n (n-1) m bytes, time (n-1)(al + be m);
        payloads of different size: their sum times n-1 in all, and at most the time of the largest.
Waits   A step waits for what it hears, not for what it sends, which only has to be gone at the end:
        who is late keeps one neighbour waiting, not two.
Sums    Block j is added up in the order j, j+1, .., j-1 of the ranks: the order depends on where an
        entry lies, so cutting the vector changes the last bits.
Source  Patarasuk & Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
        2009; the all-gather is its second half.
"""

from __future__ import annotations

from mpiddl.arrays import Array, namespace
from mpiddl.comm import Communicator
from mpiddl.comm.buffers import require_target
from mpiddl.comm.collectives import allgathers, allreduces
from mpiddl.comm.collectives.blocks import blocks, require_rows
from mpiddl.comm.engine import Task

__all__ = ["allgather", "allreduce", "reduce_scatter", "share"]


@allreduces.register("ring")
def allreduce(comm: Communicator, x: Array, tag: int = 0) -> Task[None]:
    """Sum x (b,) over all ranks, in place."""
    require_target(x)
    yield from reduce_scatter(comm, x, tag)
    yield from share(comm, x, tag)


def reduce_scatter(comm: Communicator, x: Array, tag: int = 0) -> Task[Array]:
    """Sum one block of x (b,) over all ranks, in place, and return it: block rank + 1."""
    n, rank = comm.size, comm.rank
    right, left = (rank + 1) % n, (rank - 1) % n
    parts, scratch = blocks(x, n), namespace(x).empty(-(-x.size // n), x.dtype)
    sends = []
    for step in range(n - 1):
        mine, theirs = parts[rank - step], parts[rank - step - 1]
        room = scratch[: theirs.size]
        receive = comm.irecv(room, left, tag)
        sends.append(comm.isend(mine, right, tag))
        yield receive
        yield comm.add(theirs, room)
    yield sends
    return parts[rank + 1 - n]


def share(comm: Communicator, x: Array, tag: int = 0) -> Task[None]:
    """Bring the blocks of x (b,) that `reduce_scatter` left to every rank, in place."""
    n, rank = comm.size, comm.rank
    right, left = (rank + 1) % n, (rank - 1) % n
    parts, sends = blocks(x, n), []
    for step in range(n - 1):
        mine, theirs = parts[(rank + 1 - step) % n], parts[rank - step]
        receive = comm.irecv(theirs, left, tag)
        sends.append(comm.isend(mine, right, tag))
        yield receive
    yield sends


@allgathers.register("ring")
def allgather(comm: Communicator, mine: Array, out: Array, tag: int = 0) -> Task[list[int]]:
    """Bring every rank's payload mine (used,) to every rank's out (n, capacity)."""
    n, rank = comm.size, comm.rank
    require_rows(n, mine, out)
    used = [0] * n
    used[rank] = mine.size
    out[rank, : mine.size] = mine
    for step in range(n - 1):
        known, new = (rank - step) % n, (rank - step - 1) % n
        receive = comm.irecv(out[new], (rank - 1) % n, tag)
        yield [receive, comm.isend(out[known, : used[known]], (rank + 1) % n, tag)]
        used[new] = receive.nbytes
    return used
