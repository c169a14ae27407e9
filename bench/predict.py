"""What a variant must send, by the formulas of `theory.cost` and `theory.wire`.

The formulas know nothing of how mpiddl sends: here a variant is only read, to see which formula
speaks of it. Rank 0 alone imports this: the formulas are sympy expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from mpiddl.architecture.allreduce import AllReduce
from mpiddl.architecture.neighbours import Neighbours
from mpiddl.architecture.pairwise import Pairwise
from mpiddl.architecture.push_sum import PushSum
from mpiddl.architecture.served import Served
from mpiddl.architecture.topology import edges
from mpiddl.architecture.tracking import Tracking
from mpiddl.compression import Compressor
from mpiddl.compression.channels import parse_channel
from mpiddl.compression.qsgd import QSGD
from mpiddl.compression.randk import RandK
from mpiddl.compression.topk import TopK
from mpiddl.layout import Layout
from mpiddl.train import Run
from mpiddl.variant import Variant
from theory.cost import ALLGATHER, ALLREDUCE, Evaluated, allreduce, parameter_server
from theory.wire import PAYLOAD

__all__ = ["Formula", "dense", "per_clock"]

Formula = Callable[[Run], Evaluated | None]


def per_clock(run: Run) -> Evaluated | None:
    """Return messages and bytes of one clock, totals over all ranks.

    None where no formula speaks of the variant: a compressor or collective that is not in `theory`,
    MPI's own all-reduce, which nobody can count, backup workers, who speak as often as they can,
    all-reduces that some begin or that are not always needed, a graph that changes to clocks with
    other numbers of links; or workers who end early, where they do not all say as much.
    """
    if run.ends is not None and not _alike(run.variant.architecture):
        return None
    total, width = Evaluated(0, 0, 0.0), np.dtype(run.problem.dtype).itemsize
    for size in sizes(run.variant, run.problem.layout, width):
        frozen: Any = run.variant.architecture, run.variant.channel.compressor
        part = _lane(*frozen, size, width, run.problem.workers)
        if part is None:
            return None
        total = Evaluated(total.messages + part.messages, total.bytes + part.bytes, 0.0)
    return total


def dense(run: Run) -> Fraction:
    """Return the bytes per worker of one all-reduce of the whole vector, uncompressed."""
    n, width = run.problem.workers, np.dtype(run.problem.dtype).itemsize
    cost = ALLREDUCE["halving_doubling"].at(n=n, b=run.problem.layout.size, w=width)
    return Fraction(cost.bytes, n)


def sizes(variant: Variant, layout: Layout, width: int) -> list[int]:
    """Return the entries, of `width` bytes each, of each piece that travels on its own."""
    return [bucket.size for bucket in variant.schedule.plan(layout, width).buckets]


def _alike(architecture: Any) -> bool:
    """Whether every clock of a worker costs the same, whoever it is and whoever has ended."""
    return isinstance(architecture, Pairwise) or (
        isinstance(architecture, Served) and architecture.servers > 0
    )


def _payload(compressor: Compressor, b: int, w: int) -> int | None:
    """Return the bytes of a vector of `b` entries of `w` bytes in the words of `compressor`."""
    name = getattr(compressor, "name", "")
    if name not in PAYLOAD:
        return None
    count = compressor.count(b) if isinstance(compressor, TopK | RandK) else b
    levels = (compressor.levels,) if isinstance(compressor, QSGD) else ()
    return int(PAYLOAD[name](count, w, *levels))


@cache
def _lane(architecture: Hashable, compressor: Any, b: int, w: int, n: int) -> Evaluated | None:
    """Return the cost of a vector of `b` entries of `w` bytes and `n` workers."""
    payload = _payload(compressor, b, w)
    if payload is None:
        return None
    if isinstance(architecture, Neighbours):
        return _mixed(architecture, compressor, b, w, n)
    if isinstance(architecture, Pairwise):
        messages = 2 * n * (n > 1)  # of each worker a question, and its answer
        return Evaluated(messages, messages * payload, 0.0)
    if isinstance(architecture, Served) and not getattr(architecture, "backup", 0):
        return _served(architecture, compressor, b, w, n)
    if isinstance(architecture, AllReduce) and architecture.quorum == "all":
        if not compressor.linear:
            return ALLGATHER[architecture.gather].at(n=n, b=payload, w=1)
        cost = allreduce(architecture.collective)
        return None if cost is None else cost.at(n=n, b=payload // w, w=w)
    return None


def _mixed(
    architecture: Neighbours, compressor: Compressor, b: int, w: int, n: int
) -> Evaluated | None:
    """Return what neighbours say in one clock: a message for each weight off the diagonal of W.

    Tracking says two vectors as one; push-sum an entry more, as it is. None where the clocks of a
    turn differ in messages.
    """
    tracked, pushed = isinstance(architecture, Tracking), isinstance(architecture, PushSum)
    payload = _payload(compressor, 2 * b if tracked else b, w)
    messages = {edges(matrix) for matrix in architecture.matrices(n)}
    if payload is None or len(messages) > 1:
        return None
    (each,) = messages
    return Evaluated(each, each * (payload + w * pushed), 0.0)


def _served(ps: Served, compressor: Compressor, b: int, w: int, n: int) -> Evaluated | None:
    """Return what workers say to servers of b entries, and servers to workers, in one clock.

    Each of s servers holds b/s entries, rounded up or down; where workers serve, what a worker
    says to itself is not sent.
    """
    servers, speakers = ps.servers or n, n if ps.servers else n - 1
    floor, longer = divmod(b, servers)
    down = parse_channel(ps.down).compressor
    total = 0
    for size, shards in ((floor + 1, longer), (floor, servers - longer)):
        up, back = (_payload(words, size, w) for words in (compressor, down))
        if up is None or back is None:
            return None
        total += shards * (up + back) if size else 0
    messages = parameter_server(ps.servers or None).at(n=n, b=b, w=w).messages
    return Evaluated(messages, speakers * total, 0.0)
