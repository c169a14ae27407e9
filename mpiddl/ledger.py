"""What ranks note: whom they took in, in which order, and how old was what they read.

In an asynchronous run some things do not follow from the seed, such as the order in which a server
takes in what workers say. Each is a choice of the moment, noted here as a number where it was made,
so the run can be made again: a place that follows its choices of last time does what it did.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from mpiddl.arrays import Array
from mpiddl.comm import Communicator
from mpiddl.comm.collectives import naive
from mpiddl.comm.engine import Task

__all__ = ["FIELDS", "SHOWN", "Ledger", "Script", "Service", "Witness", "script_of"]

SHOWN = -1  # in place of a lane: which snapshots of a worker belong to the moments of a curve

Script: TypeAlias = Mapping[tuple[int, int], Sequence[int]]


class Service(NamedTuple):
    """One thing that was taken in; on a server, a push, and the pull that answered it.

    Parameters
    ----------
    lane, place : int
        The bucket, or `SHOWN`; and where in it: the number of the shard's server, without servers
        the rank, or what the architecture counts by.
    choice : int
        What only the moment decided, in the words of the architecture: whose push a server took in.
    worker, clock : int
        Who spoke, and of which of its clocks.
    delay : int
        What the place took in between the pull at which the worker took its gradient and this
        push: tau of the theorems; with backup workers the rounds that closed.
    staleness : int
        Clocks of the slowest worker that were missing in what was then read; -1: nothing was read.
    up_bytes, down_bytes : int
        Sizes of push and pull; 0 where nothing travelled.
    """

    lane: int
    place: int
    choice: int
    worker: int
    clock: int
    delay: int
    staleness: int
    up_bytes: int
    down_bytes: int


FIELDS = Service._fields


class Ledger:
    """The services of one rank, in the order in which things were taken in."""

    def __init__(self) -> None:
        self.rows: list[list[int]] = []

    def take_in(
        self,
        lane: int,
        place: int,
        choice: int,
        worker: int,
        clock: int,
        delay: int = 0,
        up_bytes: int = 0,
    ) -> list[int]:
        """Note what is taken in; return its row, to be completed by `answer`."""
        self.rows.append([lane, place, choice, worker, clock, delay, -1, up_bytes, 0])
        return self.rows[-1]

    def answer(self, row: list[int], staleness: int, down_bytes: int) -> None:
        """Note what was read then."""
        row[6], row[8] = staleness, down_bytes

    def collect(self, comm: Communicator) -> Task[np.ndarray[Any, np.dtype[np.int64]] | None]:
        """Bring the rows of all ranks to rank 0: int64 (services, len(FIELDS)), rank by rank."""
        sizes = np.zeros(comm.size)
        sizes[comm.rank] = len(self.rows)
        yield from naive.allreduce(comm, sizes)
        mine = np.array(self.rows, dtype=np.int64).reshape(-1)
        if comm.rank != 0:
            if mine.size:
                yield comm.isend(mine, 0)
            return None
        parts = [mine]
        for source in range(1, comm.size):
            if sizes[source]:
                parts.append(np.empty(int(sizes[source]) * len(FIELDS), np.int64))
                yield comm.irecv(parts[-1], source)
        return np.concatenate(parts).reshape(-1, len(FIELDS))


class Witness(Protocol):
    """What an exchange reports to: who speaks how often, what a server holds, what was taken in.

    `clocks` has the number of clocks of each worker; `script` the choices to follow, or None.
    """

    clocks: tuple[int, ...]
    script: Script | None
    ledger: Ledger

    def hold(self, pushes: int, span: slice, x: Array, comm: Communicator) -> None:
        """Note the piece x (b,) of the agreed model at `span`, which has taken in `pushes`."""


def script_of(services: np.ndarray[Any, np.dtype[np.int64]]) -> Script:
    """Return by (lane, place) the choices that were made there, in order."""
    script: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for lane, place, choice in services[:, :3].tolist():
        script[lane, place].append(choice)
    return dict(script)
