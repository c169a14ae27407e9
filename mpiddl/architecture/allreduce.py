"""All-reduce: everyone learns the mean of what everyone says; the model lives on every rank.

Source  Patarasuk & Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
        J. Parallel Distrib. Comput., 2009 (as the architecture of S-SGD)
Paper   D_i = what worker i says at clock t;   mean = (1/n) sum_j D_j;   x <- outer(x, mean)
Letters D_i `lane.delta` through the channel | x `lane.anchor`, then copied to `lane.x`
Cost    payloads that add: one all-reduce of them; others: one all-gather, decoded by all
Differs from the paper: gathered payloads are added in rank order, so all ranks hold the same bits.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

from mpiddl.architecture import Peers, Station, architectures
from mpiddl.arrays import Array, namespace
from mpiddl.comm.collectives import Allgather, Allreduce, allgathers, collective
from mpiddl.comm.engine import Handle, Task, Wait
from mpiddl.compression import Channel, Line
from mpiddl.errors import ConfigurationError
from mpiddl.optim import Seats
from mpiddl.replica import Exchange
from mpiddl.synchronization import Synchronization

__all__ = ["AllReduce"]


@architectures.register("allreduce")
@dataclass(frozen=True)
class AllReduce(Peers):
    """Agree by a collective.

    Parameters
    ----------
    collective : str
        Which all-reduce adds payloads that add: a file in `comm/collectives`, or one with the
        ranks of its groups, as in ``hierarchical:4``.
    gather : str
        Which all-gather brings the others to everyone. They are compressed, so mostly short, and
        messages cost more than bytes: ``bruck`` sends log2 n of them, ``ring`` n - 1.

    Raises
    ------
    ConfigurationError
        If there is no such all-reduce or all-gather.
    """

    collective: str = "halving_doubling"
    gather: str = "bruck"

    gradients: ClassVar[bool] = True

    def __post_init__(self) -> None:
        collective(str(self.collective))  # refuses an unknown name
        allgathers[str(self.gather)]

    def check(self, channel: Channel, seats: Seats, sync: Synchronization, size: int) -> None:
        """Accept every channel; refuse clocks missing from a mean, and groups that don't fit."""
        collective(self.collective, size)
        if sync.staleness:
            raise ConfigurationError(
                f"allreduce has no mean before everyone has spoken, but {sync} lets clocks be "
                "missing: use ps with it, or bsp or local:H"
            )

    def open(self, station: Station) -> Exchange:
        """Return the exchange of one lane."""
        return _Exchange(collective(self.collective), allgathers[self.gather], station)


class _Exchange(Exchange):
    def __init__(self, allreduce: Allreduce, allgather: Allgather, station: Station) -> None:
        self.allreduce, self.allgather, self.comm = allreduce, allgather, station.comm
        self.engine, self.lane = station.engine, station.lane
        self.line = station.line(self.lane.x)
        self.handle: Handle[Array]

    def push(self, clock: int, finite: bool) -> None:
        line = self.line if finite else self.line.direct
        task = self._by_sums(line) if line.linear else self._by_gathering(line)
        self.handle = self.engine.start(task, f"all-reduce of clock {clock}")

    def pull(self, at_least: int) -> Generator[Wait, None, None]:
        yield self.handle
        self.lane.outer.apply(self.lane.anchor, self.handle.value, at_least)
        self.lane.x[...] = self.lane.anchor

    def _by_sums(self, line: Line) -> Task[Array]:
        # The line hands over an array to be averaged, as often as its words need; identity: once.
        rounds = line.rounds(self.lane.delta)
        part = next(rounds)
        while True:
            yield from self.allreduce(self.comm, part)
            part /= self.comm.size
            try:
                part = rounds.send(part)
            except StopIteration as stop:
                return stop.value

    def _by_gathering(self, line: Line) -> Task[Array]:
        mine, xp = line.send(self.lane.delta), namespace(self.lane.delta)
        capacity = -(-line.capacity // 8) * 8  # rows start where any field may
        gathered = xp.empty((self.comm.size, capacity), xp.uint8)
        used = yield from self.allgather(self.comm, mine, gathered)
        mean = xp.zeros_like(self.lane.delta)
        for source in range(self.comm.size):
            mean += line.receive(source, gathered[source, : used[source]])
        mean /= self.comm.size
        return mean
