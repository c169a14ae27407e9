"""When snapshots are due, and what is noted beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mpiddl.arrays import Array
from mpiddl.comm import Communicator
from mpiddl.comm.collectives import naive
from mpiddl.comm.engine import Task

__all__ = ["NOTHING", "Mark", "due_clocks", "last", "latest"]


class Mark(NamedTuple):
    """When a snapshot was taken, and what this rank had sent by then."""

    seconds: float
    bytes: int
    messages: int


NOTHING = Mark(0.0, 0, 0)


def due_clocks(every: int, clocks: int) -> tuple[int, ...]:
    """Return the clocks of which there are snapshots: each that `every` divides, and the last."""
    return tuple(sorted({*range(0, clocks, every), clocks}))


def latest(clock: int, kept: Mapping[int, Any], nothing: Any) -> Any:
    """Return what was kept at `clock`, or before it by a worker that had ended."""
    known = [one for one in kept if one <= clock]
    return kept[max(known)] if known else nothing


def last(comm: Communicator, own: Sequence[float] | Array) -> Task[Array]:
    """Return the latest of all ranks' `own` moments (due,), snapshot by snapshot."""
    all_ = np.zeros((comm.size, len(own)))
    all_[comm.rank] = own
    yield from naive.allreduce(comm, all_.reshape(-1))
    found: Array = all_.max(axis=0)
    return found
