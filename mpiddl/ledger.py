"""What servers note: whom they took in, in which order, and how old was what they gave.

Under an asynchronous run the order in which a server takes in what workers say is the only thing
that does not follow from the seed. It is written down here, so the run can be made again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from mpiddl.arrays import Array
from mpiddl.comm import Communicator
from mpiddl.comm.collectives import naive
from mpiddl.comm.engine import Task

__all__ = ["FIELDS", "Ledger", "Script", "Service", "Witness", "can_be_followed", "script_of"]

Script: TypeAlias = Mapping[tuple[int, int], Sequence[int]]


class Service(NamedTuple):
    """One push that a server took in, and the pull that answered it.

    Parameters
    ----------
    lane, server : int
        The bucket, and the number of the shard's server.
    worker, clock : int
        Who spoke, and of which of its clocks.
    delay : int
        Pushes that the server took in between the pull at which the worker took its gradient and
        this push: tau of the theorems.
    staleness : int
        Clocks of the slowest worker that were missing in the answer.
    up_bytes, down_bytes : int
        Sizes of push and pull; 0 where worker and server are one rank.
    """

    lane: int
    server: int
    worker: int
    clock: int
    delay: int
    staleness: int
    up_bytes: int
    down_bytes: int


FIELDS = Service._fields


class Ledger:
    """The services of one rank, in the order in which pushes were taken in."""

    def __init__(self) -> None:
        self.rows: list[list[int]] = []

    def take_in(
        self, lane: int, server: int, worker: int, clock: int, delay: int, up_bytes: int
    ) -> list[int]:
        """Note a push; return its row, to be completed by `answer`."""
        self.rows.append([lane, server, worker, clock, delay, -1, up_bytes, 0])
        return self.rows[-1]

    def answer(self, row: list[int], staleness: int, down_bytes: int) -> None:
        """Note the pull that answers a push."""
        row[5], row[7] = staleness, down_bytes

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
    """What a server reports to: who speaks how often, what it holds, whom it served.

    `clocks` has the number of clocks of each worker; `script` the order in which to take in what
    they say, or None.
    """

    clocks: tuple[int, ...]
    script: Script | None
    ledger: Ledger

    def hold(self, pushes: int, span: slice, x: Array, comm: Communicator) -> None:
        """Note the piece x (b,) of the agreed model at `span`, which has taken in `pushes`."""


def script_of(services: np.ndarray[Any, np.dtype[np.int64]]) -> Script:
    """Return by (lane, server) the workers in the order in which they were taken in."""
    script: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for lane, server, worker in services[:, :3].tolist():
        script[lane, server].append(worker)
    return dict(script)


def can_be_followed(
    orders: Sequence[Sequence[int]], clocks: Sequence[int], at_least: Callable[[int], int]
) -> bool:
    """Return whether servers that take in pushes in these `orders` let every worker end.

    Parameters
    ----------
    orders : sequence of sequence of int
        By lane and server: the workers, each as often as it has clocks.
    clocks : sequence of int
        Number of clocks of each worker.
    at_least : callable
        From a clock to the clock of everyone that must be in before it is answered.
    """
    said = [1] * len(clocks)  # pushes of each worker: the first waits for nobody
    heard = [[0] * len(clocks) for _ in orders]
    left = [list(reversed(order)) for order in orders]
    moved = True
    while moved:
        moved, slowest = False, []
        for order, counts in zip(left, heard, strict=True):
            while order and counts[order[-1]] < said[order[-1]]:
                counts[order.pop()] += 1
                moved = True
            slowest.append(
                min((c for c, end in zip(counts, clocks, strict=True) if c < end), default=inf)
            )
        for worker, end in enumerate(clocks):
            due = at_least(said[worker] - 1)
            answers = (counts[worker] == said[worker] for counts in heard)
            if said[worker] < end and all(answers) and due < min(slowest, default=inf):
                said[worker] += 1
                moved = True
    return not any(left)
