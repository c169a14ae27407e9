"""2-D torus: sums travel along the rows, then along the columns, and back along the rows.

Idea    The ranks are a grid: rows of g neighbours, columns of N = n / g ranks. Reduce-scatter in
        every row by a ring leaves a rank the row's sum of one block; the ranks of a column hold
        the same block and sum it by a ring all-reduce; the blocks travel around the rows again.
        g is the largest divisor of n up to its root: as square as possible, whatever machines the
        ranks are on. If n is prime there is one column, and this is the ring.
Cost    2 n (g-1) + 2 n (N-1) messages, 2 (n-1) m bytes in all; time
            2 (g-1)(al + be c w) + (g-1) ga c w + 2 (N-1)(al + be e w) + (N-1) ga e w
        with c = ceil(b/g), e = ceil(c/N): the longest block of a row starts in the column that
        ends last, and its longest block ends where the row has yet to hear it. The ring's bytes
        with fewer start-ups: 2 (g + N - 2) al.
Sums    Row by row, then column by column, in ring order: depends on where an entry lies.
Source  Mikami et al., "Massively distributed SGD: ImageNet/ResNet-50 training in a flash", 2018
        (arXiv:1811.05233).
"""

from __future__ import annotations

from mpiddl.arrays import Array
from mpiddl.comm import Communicator
from mpiddl.comm.buffers import require_target
from mpiddl.comm.collectives import allreduces, ring
from mpiddl.comm.collectives.among import among
from mpiddl.comm.collectives.blocks import require_groups, square_side
from mpiddl.comm.engine import Task

__all__ = ["allreduce"]


@allreduces.register("torus")
def allreduce(comm: Communicator, x: Array, tag: int = 0, group: int = 0) -> Task[None]:
    """Sum x (b,) over all ranks, in place; rows of `group` ranks, 0 for a square."""
    require_target(x)
    group = group or square_side(comm.size)
    require_groups(comm.size, group)
    row, column = divmod(comm.rank, group)
    along = among(comm, range(row * group, (row + 1) * group))
    across = among(comm, range(column, comm.size, group))
    mine = yield from ring.reduce_scatter(along, x, tag)
    yield from ring.allreduce(across, mine, tag)
    yield from ring.share(along, x, tag)
