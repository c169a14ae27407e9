"""Sums and exchanges over all ranks, written out: one algorithm a file, the cost in its header.

Letters: n ranks | b entries | w bytes per entry | m = b w | al, be, ga seconds per message, byte
sent, byte added | k = floor(log2 n) | r = n - 2^k ranks too many for a power of two.

| all-reduce           | time                            | good for                        |
|----------------------|---------------------------------|---------------------------------|
| `naive`              | 2 (n-1)(al + be m) + (n-1) ga m | reading; sums in order of ranks |
| `tree`               | log n (2 al + (2 be + ga) m)    | few messages in all             |
| `recursive_doubling` | log n (al + be m + ga m)        | short vectors                   |
| `ring`               | 2 (n-1) al + 2 be m + ga m      | long vectors, few ranks         |
| `halving_doubling`   | 2 log n al + 2 be m + ga m      | long vectors, many ranks        |
| `native`             | MPI's own; not simulated        | reference                       |

These are leading terms; the headers are exact. All are generators over isend and irecv: any n >= 1
and any b >= 0, in place, the same bits on every rank, exactly one message per step even where its
block is empty. Scratch is one array per call.

Read naive.py first, then ring.py; blocks.py holds what several share, barrier.py sums nothing.
"""

from __future__ import annotations

from typing import Protocol

from mpiddl.arrays import Array
from mpiddl.comm import Communicator
from mpiddl.comm.engine import Task
from mpiddl.registry import Registry

__all__ = ["Allreduce", "allreduces"]


class Allreduce(Protocol):
    """A sum over all ranks."""

    def __call__(self, comm: Communicator, x: Array, tag: int = 0) -> Task[None]:
        """Replace x (b,), float32 or float64, by the sum over all ranks; called by all of them.

        Raises
        ------
        BufferMismatch
            If x is not one-dimensional, C-contiguous and writable.
        """


allreduces: Registry[Allreduce] = Registry("mpiddl.comm.collectives", "all-reduce")
