"""Numbers that are not finite: how all ranks learn of them, and what is said in the end.

A worker whose displacement is not finite says NaN in every message from then on, past all
memories, and computes no more; whoever hears it ends up the same way. So no message is missing,
nobody waits in vain, and the detection needs no maximum (MPI's MAX may lose a NaN). After the last
clock all ranks agree on who was first and raise `Diverged`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mpiddl.comm import Communicator
from mpiddl.comm.collectives import naive
from mpiddl.comm.engine import Task
from mpiddl.errors import Diverged

__all__ = ["first_divergence", "refuse_divergence"]


def first_divergence(
    comm: Communicator, lost: int | None, heard: bool
) -> Task[tuple[int, int] | None]:
    """Agree on the (rank, clock) that first said something not finite; None if nobody did.

    `lost` is that clock on this rank. Where workers are at different clocks, one that only `heard`
    of it may be at a lower one than whom it heard, so it is named only if all others heard too.
    """
    clocks = np.zeros((2, comm.size))  # of those with whom it began, and of those who heard
    clocks[int(heard), comm.rank] = 0 if lost is None else lost + 1
    yield from naive.allreduce(comm, clocks.reshape(-1))
    for found in clocks:
        if found.any():
            rank = int(np.argmin(np.where(found > 0, found, np.inf)))
            return rank, int(found[rank]) - 1
    return None


def refuse_divergence(job: Any, result: Any) -> None:
    """Raise Diverged, alike on all ranks, if `result` says so; the curve so far is kept."""
    if result.diverged is not None:
        rank, clock = result.diverged
        raise Diverged(
            f"{job.variant} on {job.problem.name}: rank {rank} met a number that is not finite in "
            f"clock {clock}; a smaller step size may help",
            result,
        )
