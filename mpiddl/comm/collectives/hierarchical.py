"""Two levels: sums inside a node, then between nodes slice by slice, then inside again.

Idea    Nodes of g neighbouring ranks. A ring reduce-scatter inside every node leaves each of its
        ranks one slice of the node's sum; those with the same slice, one per node, sum it by
        halving and doubling (g such sums side by side); a ring inside the node shares the slices.
        Between nodes every rank sends only its slice, in 2 log N messages.
Groups  `hierarchical:G` has nodes of G ranks, and G must divide n. Without a number g is the
        largest divisor of n up to its root. Neither asks which machines the ranks are on, so that
        a result does not depend on it: give G = ranks per machine where that is wanted.
Cost    2 n (g-1) messages inside, g times those of halving_doubling for N = n / g ranks between;
        2 (n-1) m bytes in all. Time, with c = ceil(b/g),
            2 (g-1)(al + be c w) + (g-1) ga c w + (that of halving_doubling for N ranks, c entries):
        the longest slice is the last everywhere. On real machines the g slices of a node share
        its wire: between nodes be counts g times.
Sums    In ring order inside a node, a binary tree over the nodes: depends on where an entry lies.
Source  Jia et al., "Highly scalable deep learning training system with mixed-precision: training
        ImageNet in four minutes", 2018 (arXiv:1807.11205), for the levels.
Differs from the paper: every rank of a node speaks to other nodes, not one for all.
"""

from __future__ import annotations

from mpiddl.arrays import Array
from mpiddl.comm import Communicator
from mpiddl.comm.buffers import require_target
from mpiddl.comm.collectives import allreduces, halving_doubling, ring
from mpiddl.comm.collectives.among import among
from mpiddl.comm.collectives.blocks import require_groups, square_side
from mpiddl.comm.engine import Task

__all__ = ["allreduce"]


@allreduces.register("hierarchical")
def allreduce(comm: Communicator, x: Array, tag: int = 0, group: int = 0) -> Task[None]:
    """Sum x (b,) over all ranks, in place; nodes of `group` ranks, 0 for the rule above."""
    require_target(x)
    group = group or square_side(comm.size)
    require_groups(comm.size, group)
    node, place = divmod(comm.rank, group)
    inside = among(comm, range(node * group, (node + 1) * group))
    between = among(comm, range(place, comm.size, group))
    mine = yield from ring.reduce_scatter(inside, x, tag)
    yield from halving_doubling.allreduce(between, mine, tag)
    yield from ring.share(inside, x, tag)
