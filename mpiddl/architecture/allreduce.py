"""All-reduce: everyone learns the mean of what everyone says; the model lives on every rank.

Source  Patarasuk & Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
        J. Parallel Distrib. Comput., 2009 (as the architecture of S-SGD)
Paper   D_i = what worker i says at clock t;   mean = (1/n) sum_j D_j;   x <- outer(x, mean)
Letters D_i `lane.delta` through the channel | x `lane.anchor`, then copied to `lane.x`
Cost    payloads that add: one all-reduce of them; others: one ring all-gather, decoded by all
Differs from the paper: the sum of gathered payloads is made in rank order, so all ranks hold the
same bits.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from mpiddl.architecture import architectures
from mpiddl.arrays import Array, namespace
from mpiddl.comm import Communicator
from mpiddl.comm.collectives import allreduces, ring
from mpiddl.comm.engine import Engine, Handle, Task, Wait
from mpiddl.compression import Channel, Line
from mpiddl.optim import Seats
from mpiddl.registry import Described
from mpiddl.replica import Lane

__all__ = ["AllReduce"]


@architectures.register("allreduce")
@dataclass(frozen=True)
class AllReduce(Described):
    """Agree by a collective.

    Parameters
    ----------
    collective : str
        Which all-reduce adds the payloads that add: a file in `comm/collectives`.

    Raises
    ------
    ConfigurationError
        If no all-reduce has that name.
    """

    collective: str = "halving_doubling"

    def __post_init__(self) -> None:
        allreduces[self.collective]  # refuses an unknown name

    def check(self, channel: Channel, seats: Seats, size: int) -> None:
        """Accept everything: any channel has a mean."""

    def open(self, comm: Communicator, engine: Engine, lane: Lane, line: Line) -> _Exchange:
        """Return the exchange of one lane."""
        return _Exchange(self.collective, comm, engine, lane, line)


class _Exchange:
    def __init__(
        self, collective: str, comm: Communicator, engine: Engine, lane: Lane, line: Line
    ) -> None:
        self.collective, self.comm, self.engine = allreduces[collective], comm, engine
        self.lane, self.line = lane, line
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
            yield from self.collective(self.comm, part)
            part /= self.comm.size
            try:
                part = rounds.send(part)
            except StopIteration as stop:
                return stop.value

    def _by_gathering(self, line: Line) -> Task[Array]:
        mine, xp = line.send(self.lane.delta), namespace(self.lane.delta)
        capacity = -(-line.capacity // 8) * 8  # rows start where any field may
        gathered = xp.empty((self.comm.size, capacity), xp.uint8)
        used = yield from ring.allgather(self.comm, mine, gathered)
        mean = xp.zeros_like(self.lane.delta)
        for source in range(self.comm.size):
            mean += line.receive(source, gathered[source, : used[source]])
        mean /= self.comm.size
        return mean
