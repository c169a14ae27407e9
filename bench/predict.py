"""What a variant must send, by the formulas of `theory.cost` and `theory.wire`.

The formulas know nothing of how mpiddl sends: here a variant is only read, to see which formula
speaks of it. Rank 0 alone imports this: the formulas are sympy expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import asdict
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from mpiddl.architecture.allreduce import AllReduce
from mpiddl.architecture.neighbours import Neighbours
from mpiddl.architecture.pairwise import Pairwise
from mpiddl.architecture.served import Served
from mpiddl.compression.channels import parse_channel
from mpiddl.layout import Layout
from mpiddl.train import Run
from mpiddl.variant import Variant
from theory.cost import ALLGATHER, ALLREDUCE, Evaluated, allreduce, gossip_by, pairwise, served
from theory.wire import MESSAGE, PAYLOAD, Words

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


def _words(compressor: Any, w: int) -> Words | None:
    """Return how many bytes `compressor` makes of so many entries of `w` bytes; None: unknown."""
    if compressor.name not in PAYLOAD:
        return None
    formula, numbers = PAYLOAD[compressor.name], asdict(compressor)
    return lambda b: int(formula(b, w, **numbers))


@cache
def _lane(architecture: Hashable, compressor: Any, b: int, w: int, n: int) -> Evaluated | None:
    """Return the cost of a vector of `b` entries of `w` bytes and `n` workers."""
    words = _words(compressor, w)
    if words is None:
        return None
    if isinstance(architecture, Neighbours | Pairwise):
        return _spoken(architecture, words, b, w, n)
    if isinstance(architecture, Served) and not getattr(architecture, "backup", 0):
        down = _words(parse_channel(architecture.down).compressor, w)
        return None if down is None else served(architecture.servers or None, n, b, words, down)
    if isinstance(architecture, AllReduce) and architecture.quorum == "all":
        if not compressor.linear:
            return ALLGATHER[architecture.gather].at(n=n, b=words(b), w=1)
        cost = allreduce(architecture.collective)
        return None if cost is None else cost.at(n=n, b=words(b) // w, w=w)
    return None


def _spoken(
    architecture: Neighbours | Pairwise, words: Words, b: int, w: int, n: int
) -> Evaluated | None:
    """Return what neighbours say in a clock; None where those of a turn differ in messages."""
    if architecture.name not in MESSAGE:
        return None
    message = MESSAGE[architecture.name](words, b, w)
    if isinstance(architecture, Pairwise):
        meetings = n if n > 1 else 0  # each worker asks one other
        return pairwise(meetings).at(n=n, b=message)
    costs = [gossip_by(matrix).at(n=n, b=message) for matrix in architecture.matrices(n)]
    return costs[0] if len({cost.messages for cost in costs}) == 1 else None
