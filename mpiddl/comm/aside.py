"""What ranks say to each other beside the run: collective, uncounted, and without spinning.

A rank that is late (rank 0 imports, plots, measures) is starved by peers that spin in a blocking
call, so every call here first meets by a non-blocking barrier and sleeps between two looks.
"""

from __future__ import annotations

import os
import time
from math import inf
from typing import Any, Self

import numpy as np

from mpiddl.comm import Traffic
from mpiddl.errors import ConfigurationError, ProtocolError

__all__ = ["Aside", "crowding", "patient"]

SHORT = 512  # bytes of text that ranks compare in one call
NAP = 0.002  # longest time between two looks, in seconds, by one who has not waited for long
DOZE = 0.05  # the same, by one who has waited for 20 times as long: many who look take a core


def patient(request: Any, limit: float = inf) -> bool:
    """Wait at most `limit` seconds for an MPI request, asleep; return whether it has ended."""
    began, nap = time.monotonic(), NAP / 64
    while not request.Test():
        waited = time.monotonic() - began
        if waited > limit:
            return False
        time.sleep(nap)
        nap = min(2 * nap, max(NAP, min(waited / 20, DOZE)))
    return True


class Aside:
    """Talk over `beside`, an mpi4py communicator that carries nothing else collective.

    A context manager: closed on a peaceful end; after an exception others may not come to close.
    """

    def __init__(self, beside: Any) -> None:
        self._beside = beside
        self.rank: int = beside.rank
        self.size: int = beside.size
        self.traffic = Traffic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()

    def close(self) -> None:
        """Free the communicator; collective."""
        self._beside.Free()

    def rendezvous(self) -> None:
        """Wait until all ranks are here, without spinning; collective."""
        patient(self._beside.Ibarrier())

    def gather(self, obj: object) -> list[Any] | None:
        """Return everyone's `obj` by rank on rank 0, None elsewhere; collective."""
        self.rendezvous()
        objects: list[Any] | None = self._beside.gather(obj, root=0)
        return objects

    def allgather(self, obj: object) -> list[Any]:
        """Return everyone's `obj` by rank; collective."""
        self.rendezvous()
        objects: list[Any] = self._beside.allgather(obj)
        return objects

    def agree(self, what: str, value: object) -> None:
        """Check that all ranks have an equal `value`; collective.

        Raises
        ------
        ConfigurationError
            On every rank if not; names `what`, the values and their ranks.
        """
        if self._alike(value):
            return
        groups: list[tuple[object, list[int]]] = []
        for rank, theirs in enumerate(self.allgather(value)):
            ranks = next((ranks for known, ranks in groups if known == theirs), None)
            if ranks is None:
                groups.append((theirs, [rank]))
            else:
                ranks.append(rank)
        if len(groups) > 1:
            found = "; ".join(f"{theirs!r} on {_named(ranks)}" for theirs, ranks in groups)
            raise ConfigurationError(f"ranks disagree on {what}: {found}")

    def _alike(self, value: object) -> bool:
        """Return True only if everyone's `value` reads alike and is short: cheap, mostly true."""
        text = np.frombuffer(repr(value).encode(), np.uint8)
        mine, everyone = np.zeros(SHORT, np.uint8), np.empty((self.size, SHORT), np.uint8)
        if text.size < SHORT:
            mine[0], mine[1 : 1 + text.size] = 1, text
        patient(self._beside.Iallgather(mine, everyone))
        return bool(everyone[:, 0].all() and (everyone == everyone[0]).all())

    def reconcile(self) -> None:
        """Check that what was sent to each rank is what it received; collective, when all is quiet.

        Raises
        ------
        ProtocolError
            On every rank if not; names the pairs.
        """
        sent, received = np.zeros((2, self.size, 2), dtype=np.int64)
        for table, counts in ((sent, self.traffic.to), (received, self.traffic.heard)):
            for peer, count in counts.items():
                table[peer] = count.messages, count.bytes
        expected = np.empty_like(sent)
        patient(self._beside.Ialltoall(sent, expected))
        lost = [
            f"rank {self.rank} had {received[peer, 0]} messages of {received[peer, 1]} bytes "
            f"from rank {peer}, which sent {expected[peer, 0]} of {expected[peer, 1]}"
            for peer in np.flatnonzero((received != expected).any(axis=1))
        ]
        if not self._alike(bool(lost)) or lost:
            everywhere = [line for lines in self.allgather(lost) for line in lines]
            raise ProtocolError("sent and received differ: " + "; ".join(everywhere))


def crowding(machine: Any) -> float:
    """Return how many ranks share a core on `machine`, a communicator of its ranks; collective."""
    cores = set().union(*machine.allgather(_cores()))
    return float(machine.size / len(cores))


def _cores() -> set[int]:
    """Return the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))


def _named(ranks: list[int]) -> str:
    shown = ", ".join(map(str, ranks[:8])) + (" ..." if len(ranks) > 8 else "")
    return f"rank {shown}" if len(ranks) == 1 else f"ranks {shown}"
