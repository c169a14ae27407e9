"""Our all-reduces against MPI's own blocking call, all in place.

The limit is for the ring, four ranks and MPICH, the MPI that comes with mpiddl; halving-doubling
takes 1.0 to 1.15 times as long as MPICH's call, which is shown and not judged. Open MPI's blocking
call is faster where ranks share cores: ours take 1.2 to 1.5 times as long there, shown too. Beside
it stands MPI's own non-blocking call, driven by our engine as ours are.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.speed.measure import Measure, judged, of_repetitions
from mpiddl.comm.collectives import collective
from mpiddl.comm.engine import Engine

if TYPE_CHECKING:
    from mpiddl.comm.mpi import MPICommunicator

__all__ = ["RANKS", "allreduces"]

RANKS = 4  # for which the limits are
LIMIT = 1.1  # times MPI's own blocking call, of vectors of 4 MB
OURS = ("ring", "halving_doubling")
JUDGED = "ring"
UNITS = ("x MPI, blocking", "x MPI, driven")


@dataclass(frozen=True)
class Case:
    """Vectors of so many bytes; every repetition makes `calls` calls of each collective."""

    nbytes: int
    dtype: Any
    calls: int
    repetitions: int
    judged: bool = False

    def __str__(self) -> str:
        kilo = self.nbytes >> 10
        size = f"{kilo >> 10} MB" if kilo >= 1024 else f"{kilo} KB"
        return f"{size} {np.dtype(self.dtype)}"


CASES = (
    Case(4 << 20, np.float32, 3, 11, judged=True),
    Case(4 << 20, np.float64, 3, 11, judged=True),
    Case(64 << 10, np.float32, 10, 11),
    Case(4 << 10, np.float32, 10, 11),
)


def allreduces(comm: MPICommunicator) -> list[Measure]:
    """Return the time of each of ours over that of MPI's own; [] except on rank 0; collective."""
    return [measure for case in CASES for measure in _measured(comm, case)]


def _measured(comm: MPICommunicator, case: Case) -> Iterator[Measure]:
    x = np.ones(case.nbytes // np.dtype(case.dtype).itemsize, case.dtype)
    engine, driven = Engine(comm), (*OURS, "native")
    sums = {name: collective(name, comm.size) for name in driven}
    taken = np.empty((case.repetitions + 1, len(driven) + 1))
    for row in taken:
        for column, name in enumerate((*driven, "blocking")):
            x[...] = 1  # sums of sums grow
            comm.rendezvous()
            began = time.perf_counter()
            for _ in range(case.calls):
                if name in sums:
                    engine.run(sums[name](comm, x))
                else:
                    comm.native_sum(x)
            row[column] = time.perf_counter() - began
    everyone = comm.gather(taken[1:])  # the first one warms up
    if everyone is None:
        return
    slowest = np.max(everyone, axis=0)
    for column, name in enumerate(OURS):
        what = f"{name}, {case}"
        held = case.judged and name == JUDGED and judged(comm, RANKS)
        limit = LIMIT if held else None
        for unit, other, most in zip(UNITS, (-1, -2), (limit, None), strict=True):
            yield of_repetitions(what, unit, slowest[:, column] / slowest[:, other], most)
