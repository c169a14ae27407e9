"""Ring all-reduce, and a ring all-gather of payloads of any size.

Idea    Cut the vector into n blocks. In n-1 steps every block travels once around the ring and
        every rank adds its own part to it (reduce-scatter): rank i then holds the sum of block
        i+1. In n-1 more steps the finished blocks travel around (all-gather).
Cost    All-reduce: 2 n (n-1) messages, 2 (n-1) m bytes in all; time
            2 (n-1)(al + be c w) + (n-1) ga c w,   c = ceil(b/n):
        the longest block makes 2 (n-1) hops and is added n-1 times; no other chain is longer.
        No algorithm moves fewer bytes per rank, but n-1 start-ups add up.
        All-gather of m bytes per rank: n (n-1) messages, n (n-1) m bytes, time (n-1)(al + be m).
Sums    Block j is added up in the order j, j+1, .., j-1 of the ranks: the order depends on where an
        entry lies, so cutting the vector changes the last bits.
Source  Patarasuk & Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
        2009; the all-gather is its second half.
"""

from __future__ import annotations

from mpiddl.arrays import Array, namespace
from mpiddl.comm import Communicator
from mpiddl.comm.buffers import require_target
from mpiddl.comm.collectives import allreduces
from mpiddl.comm.collectives.blocks import block
from mpiddl.comm.engine import Task
from mpiddl.errors import BufferMismatch

__all__ = ["allgather", "allreduce"]


@allreduces.register("ring")
def allreduce(comm: Communicator, x: Array, tag: int = 0) -> Task[None]:
    """Sum x (b,) over all ranks, in place."""
    require_target(x)
    n, rank = comm.size, comm.rank
    right, left = (rank + 1) % n, (rank - 1) % n
    scratch = namespace(x).empty(-(-x.size // n), x.dtype)
    for step in range(n - 1):
        mine, theirs = block(x, rank - step, n), block(x, rank - step - 1, n)
        room = scratch[: theirs.size]
        yield [comm.irecv(room, left, tag), comm.isend(mine, right, tag)]
        yield comm.add(theirs, room)
    for step in range(n - 1):
        mine, theirs = block(x, rank - step + 1, n), block(x, rank - step, n)
        yield [comm.irecv(theirs, left, tag), comm.isend(mine, right, tag)]


def allgather(comm: Communicator, mine: Array, out: Array, tag: int = 0) -> Task[list[int]]:
    """Bring every rank's payload to every rank; only the bytes in use travel.

    Parameters
    ----------
    comm : Communicator
        The ranks.
    mine : array of uint8, (used,)
        This rank's payload; `used` may differ between ranks and may be 0.
    out : array of uint8, (n, capacity)
        Row i receives the payload of rank i; what lies behind it in the row is left alone.
    tag : int
        Tag of the messages.

    Returns
    -------
    list of int
        Bytes in use per row.

    Raises
    ------
    BufferMismatch
        If `out` has not n rows, or a payload does not fit into one.
    """
    n, rank = comm.size, comm.rank
    if out.ndim != 2 or out.shape[0] != n or mine.size > out.shape[1]:
        raise BufferMismatch(
            f"{n} rows of at least {mine.size} bytes are needed, found shape {tuple(out.shape)}"
        )
    used = [0] * n
    used[rank] = mine.size
    out[rank, : mine.size] = mine
    for step in range(n - 1):
        known, new = (rank - step) % n, (rank - step - 1) % n
        receive = comm.irecv(out[new], (rank - 1) % n, tag)
        yield [receive, comm.isend(out[known, : used[known]], (rank + 1) % n, tag)]
        used[new] = receive.nbytes
    return used
