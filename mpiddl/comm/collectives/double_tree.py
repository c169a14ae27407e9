"""Double binary tree: half of the vector through each of two trees, piece after piece.

Idea    In a binary tree half of the ranks are leaves, which send but never add or hand on; so two
        trees run at once, each rank being a leaf in one of them (see trees.py). Each takes half
        of the vector, cut into P pieces: sums climb to the root, a piece every other step while
        the pieces before it are further up; then the results come down in the same way. Edges
        have the steps of their colour, so that a rank sends one piece and hears one piece a step.
Cost    4 (n-1) P messages with P = max(1, ceil(ceil(b/2) w / piece)), 2 (n-1) m bytes in all. The
        time is a recurrence over the steps, in theory/cost/double_tree.py: who is through with a
        step waits for those it meets in the next. If n > 1 and no piece has more than s bytes,
        it is at most
            (2 P + 2 floor(log2 n) - 2)(2 (al + be s) + ga s):
        with many pieces that is 2 be m + ga m for any n, as in the ring, and start-ups grow as
        log n only.
Sums    A binary tree over the ranks; which one depends on where an entry lies.
Source  Sanders, Speck & Traff, "Two-tree algorithms for full bandwidth broadcast, reduction and
        scan", 2009.
Differs from the paper: results come down after all sums have climbed, not behind them.
"""

from __future__ import annotations

from itertools import groupby

from mpiddl.arrays import Array, namespace
from mpiddl.comm import Communicator
from mpiddl.comm.buffers import require_target
from mpiddl.comm.collectives import allreduces
from mpiddl.comm.collectives.blocks import block
from mpiddl.comm.collectives.trees import Edge, edges
from mpiddl.comm.engine import Task

__all__ = ["PIECE", "allreduce"]

PIECE = 1 << 18  # bytes of a piece, at most: as long to send as some start-ups


@allreduces.register("double_tree")
def allreduce(comm: Communicator, x: Array, tag: int = 0, piece: int = PIECE) -> Task[None]:
    """Sum x (b,) over all ranks, in place; pieces of at most `piece` bytes."""
    require_target(x)
    halves = block(x, 0, 2), block(x, 1, 2)
    count = max(1, -(-halves[0].nbytes // max(piece, x.itemsize)))
    parts = [[block(half, index, count) for index in range(count)] for half in halves]
    scratch = namespace(x).empty(parts[0][0].size, x.dtype)
    mine = [edge for edge in edges(comm.size) if comm.rank in (edge.child, edge.parent)]
    for down in (False, True):
        for _, meetings in groupby(_timetable(mine, count, down), key=lambda meeting: meeting[0]):
            requests, added = [], None
            for _, edge, index in meetings:
                part, hangs = parts[edge.tree][index], comm.rank == edge.child
                peer = edge.parent if hangs else edge.child
                if hangs != down:
                    requests.append(comm.isend(part, peer, tag))
                elif down:
                    requests.append(comm.irecv(part, peer, tag))
                else:
                    added, room = part, scratch[: part.size]
                    requests.append(comm.irecv(room, peer, tag))
            yield requests
            if added is not None:
                yield comm.add(added, room)


def _timetable(mine: list[Edge], count: int, down: bool) -> list[tuple[int, Edge, int]]:
    """Return what a rank does: step, edge, piece, in the order of the steps."""
    return sorted(
        ((edge.down if down else edge.up) + 2 * index, edge, index)
        for edge in mine
        for index in range(count)
    )
