"""A collective that a simulated world makes at once for all ranks, instead of by messages.

Idea    When the last rank has joined, all vectors are there: they are added up in the order in
        which messages would add them, and every rank is done when messages would let it, a wait
        for each of its steps. So a step costs a NumPy call, not an event for each of n ranks.
Cost    As by messages, in bytes, messages and time: each step of a rank begins when both it and its
        peer are there, as if nothing else were under way on their ports.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from mpiddl.arrays import Array
from mpiddl.comm.fabric import Fabric, Network, Operation
from mpiddl.errors import ProtocolError

__all__ = ["MAKERS", "Gathering", "Joined"]

Times: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Sizes: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]


class Joined(NamedTuple):
    """One rank's part: its vector x (b,), when it joined, and what is done when it is done."""

    x: Array
    time: float
    operation: Operation


class Gathering:
    """The collectives under way in a world of `size` ranks, by name, lane and tag."""

    def __init__(self, fabric: Fabric, size: int) -> None:
        self._fabric, self._size = fabric, size
        self._open: defaultdict[tuple[str, str, int], list[dict[int, Joined]]] = defaultdict(list)

    def join(
        self, name: str, where: str, tag: int, x: Array, operation: Operation, network: Network
    ) -> None:
        """Let the rank of `operation` join the first such collective that it is not yet part of.

        Raises
        ------
        ProtocolError
            If its vector is not like those of the others.
        """
        rounds, rank = self._open[name, where, tag], operation.rank
        mine = next((one for one in rounds if rank not in one), None)
        if mine is None:
            rounds.append(mine := {})
        mine[rank] = Joined(x, self._fabric.now, operation)
        if len(mine) == self._size:
            rounds.remove(mine)
            parts = [mine[rank] for rank in range(self._size)]
            if len({(part.x.dtype, part.x.size) for part in parts}) > 1:
                raise ProtocolError(f"{operation.label}: ranks join with different vectors")
            for part, end in zip(parts, MAKERS[name](parts, network), strict=True):
                self._fabric.schedule(float(end), part.operation)


class _Clock:
    """Moments (n,) at which ranks are ready for their next step, and what they send till then."""

    def __init__(self, parts: list[Joined], network: Network) -> None:
        self.parts, self.network, self.itemsize = parts, network, parts[0].x.itemsize
        self.now: Times = np.array([part.time for part in parts])

    def send(self, sources: Sizes, dests: Sizes, sizes: Sizes) -> Times:
        """Send so many entries from each source to its dest; return when they have come."""
        start = np.maximum(self.now[sources], self.now[dests])
        nbytes = sizes * self.itemsize
        for source, dest, many in zip(
            sources.tolist(), dests.tolist(), nbytes.tolist(), strict=True
        ):
            self.parts[source].operation.traffic.send(dest, many)
            self.parts[dest].operation.traffic.receive(source, many)
        arrived: Times = start + (self.network.alpha + self.network.beta * nbytes)
        return arrived

    def add(self, ranks: Sizes, sizes: Sizes) -> None:
        """Let `ranks` add so many entries each."""
        self.now[ranks] += self.network.gamma * (sizes * self.itemsize)


def _halving_doubling(parts: list[Joined], network: Network) -> Times:
    """As collectives/halving_doubling.py: pairs of near ranks first, and all the way back."""
    n, b = len(parts), parts[0].x.size
    k = n.bit_length() - 1
    extra, clock = n - (1 << k), _Clock(parts, network)
    even, whole = 2 * np.arange(extra), np.full(extra, b)
    vectors = np.array([part.x for part in parts])
    vectors[even] += vectors[even + 1]
    clock.now[even] = clock.now[even + 1] = clock.send(even + 1, even, whole)
    clock.add(even, whole)
    member = np.arange(1 << k)
    ranks = np.where(member < extra, 2 * member, member + extra)
    sums = vectors[ranks]
    sizes, way_back = np.full(1 << k, b), []
    for level in range(k):
        sums = sums[0::2] + sums[1::2]
        peers = ranks[member ^ (1 << level)]
        kept = np.where(member >> level & 1, sizes // 2, (sizes + 1) // 2)
        _swap(clock, ranks, peers, sizes - kept)
        clock.add(ranks, kept)
        way_back.append((peers, kept))
        sizes = kept
    for peers, kept in reversed(way_back):
        _swap(clock, ranks, peers, kept)
    clock.now[even] = clock.now[even + 1] = clock.send(even, even + 1, whole)
    for part in parts:
        part.x[...] = sums[0]
    return clock.now


def _swap(clock: _Clock, ranks: Sizes, peers: Sizes, sizes: Sizes) -> None:
    """Let each of `ranks` send so many entries to its peer, and wait for both messages."""
    arrived = np.empty_like(clock.now)
    arrived[peers] = clock.send(ranks, peers, sizes)
    clock.now[ranks] = np.maximum(arrived[ranks], arrived[peers])


MAKERS: dict[str, Callable[[list[Joined], Network], Times]] = {
    "halving_doubling": _halving_doubling
}
