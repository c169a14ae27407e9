"""A clock of gossip and of a parameter server against bare loops over mpi4py.

A bare loop sends the same messages and makes the same NumPy calls on arrays of the same sizes: it
copies words into payloads and out of them, checks that they are finite, adds, and moves the model.
What it has not is everything that makes ours general: lines, lanes, tasks, and waiting that lets
others work. The gradient is left out of both: the displacement is always the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.speed.measure import Measure, judged, of_repetitions
from mpiddl.architecture import Station
from mpiddl.comm.engine import Engine, Task
from mpiddl.compression import Key
from mpiddl.layout import Layout
from mpiddl.record import Recorder
from mpiddl.replica import Lane, Replica
from mpiddl.variant import Variant

if TYPE_CHECKING:
    from mpiddl.comm.mpi import MPICommunicator

__all__ = ["WORKERS", "exchanges"]

WORKERS = 8  # for which the limit is, with MPICH
LIMIT = 1.3  # times the bare loop
SIZES = (64 << 10, 256 << 10)  # entries of a model, float32
CLOCKS, REPETITIONS = 4, 15
LINES = {"gossip:ring": "a clock of gossip", "ps": "a clock of a parameter server"}


def exchanges(comm: MPICommunicator) -> list[Measure]:
    """Return the time of ours over that of a bare loop; [] except on rank 0; collective."""
    return [
        measure
        for architecture in LINES
        for entries in SIZES
        for measure in _measured(comm, architecture, entries)
    ]


def _measured(comm: MPICommunicator, architecture: str, entries: int) -> Iterator[Measure]:
    ours = Ours(comm, architecture, entries)
    bare = BARE[architecture](comm, entries)
    taken = np.empty((REPETITIONS + 1, 2))
    for row in taken:
        for column, clocks in enumerate((ours.clocks, bare.clocks)):
            comm.rendezvous()
            began = time.perf_counter()
            clocks(CLOCKS)
            row[column] = time.perf_counter() - began
    ours.close()
    everyone = comm.gather(taken[1:])  # the first one warms up
    if everyone is not None:
        slowest = np.max(everyone, axis=0)
        what = f"{LINES[architecture]}, {entries * 4 >> 10} KB"
        limit = LIMIT if judged(comm, WORKERS) else None
        yield of_repetitions(what, "x bare loop", slowest[:, 0] / slowest[:, 1], limit)


class Ours:
    """The exchange of one lane, as the loop of `mpiddl.train` drives it."""

    def __init__(self, comm: MPICommunicator, architecture: str, entries: int) -> None:
        variant = Variant.parse(f"bsp / {architecture} / identity / whole / sgd:1>sgd:1")
        layout = Layout(("x",), ((entries,),))
        (bucket,) = variant.schedule.plan(layout, 4).buckets
        replica = Replica(np.zeros(entries, np.float32), accumulate=True)
        self.lane = Lane(replica, bucket, (slice(0, entries),), variant.seats, True)
        total = CLOCKS * (REPETITIONS + 1)
        recorder = Recorder(total, (total,) * comm.size, comm.rank, variant.architecture.served)
        self.engine, key = Engine(comm), Key(0, comm.rank, 0)
        self.lane.exchange = variant.architecture.open(
            Station(
                comm.lane(0), self.engine, self.lane, variant.channel, key, variant.sync, recorder
            )
        )
        self.clock = 0
        self.handles: list[Any] = []

    def clocks(self, many: int) -> None:
        """Make so many clocks."""
        self._run(self._clocks(many))

    def _clocks(self, many: int) -> Task[None]:
        lane = self.lane
        for _ in range(many):
            lane.x -= STEP
            lane.push(self.clock)
            yield from lane.pull(self.clock, self.clock)
            self.clock += 1

    def _run(self, task: Task[None]) -> None:
        # servers stay alive between the measurements, so not all tasks are waited for
        handle, engine = self.engine.start(task, "clocks"), self.engine
        transport = engine.transport
        assert transport is not None
        while not handle.done:
            moved = engine.step()
            if not transport.progress() and not moved:
                transport.idle()

    def close(self) -> None:
        """End the servers."""
        self.engine.run(self.lane.exchange.close())


STEP = np.float32(1e-3)


class BareGossip:
    """D-PSGD on a ring, written down once more."""

    def __init__(self, comm: MPICommunicator, entries: int) -> None:
        from mpi4py import MPI  # only this file compares with bare calls

        self.wait, self.raw = MPI.Request.Waitall, MPI.COMM_WORLD
        n, me = comm.size, comm.rank
        self.near = sorted({(me + 1) % n, (me - 1) % n} - {me})
        self.x, self.anchor, self.delta, self.payload, self.mixed, self.part, self.said = (
            np.zeros(entries, np.float32) for _ in range(7)
        )
        self.boxes = {source: np.empty(entries, np.float32) for source in self.near}
        self.weight = np.float32(1 / (len(self.near) + 1))
        self.me = me

    def clocks(self, many: int) -> None:
        """Make so many clocks."""
        for _ in range(many):
            self._clock()

    def _clock(self) -> None:
        x, anchor, mixed, part, said = self.x, self.anchor, self.mixed, self.part, self.said
        x -= STEP
        np.subtract(anchor, x, out=self.delta)
        np.isfinite(self.delta.sum())
        self.payload[...] = x
        requests = [self.raw.Irecv(box, source, 1) for source, box in self.boxes.items()]
        requests += [self.raw.Isend(self.payload, dest, 1) for dest in self.near]
        self.wait(requests)
        mixed[...] = 0
        for source in sorted([self.me, *self.near]):
            said[...] = self.payload if source == self.me else self.boxes[source]
            np.multiply(said, self.weight, out=part)
            mixed += part
        said[...] = self.payload
        np.multiply(said, -1.0, out=part)
        part += x
        mixed *= 1.0
        mixed += part
        np.subtract(anchor, mixed, out=part)
        anchor -= part
        x[...] = anchor


class BareServers:
    """A parameter server on every rank, for one shard of the model, written down once more."""

    def __init__(self, comm: MPICommunicator, entries: int) -> None:
        from mpi4py import MPI  # only this file compares with bare calls

        self.wait, self.raw = MPI.Request.Waitall, MPI.COMM_WORLD
        n, self.me = comm.size, comm.rank
        self.others = [(self.me + k) % n for k in range(1, n)]
        bounds = [entries * rank // n for rank in range(n + 1)]
        self.shards = [slice(*bounds[rank : rank + 2]) for rank in range(n)]
        self.x, self.anchor, self.delta, self.payload = (
            np.zeros(entries, np.float32) for _ in range(4)
        )
        own = self.shards[self.me]
        self.served, self.mean, self.told, self.said = (
            np.zeros(own.stop - own.start, np.float32) for _ in range(4)
        )
        self.pushed = {source: np.empty_like(self.served) for source in self.others}
        self.answers = np.empty(entries, np.float32)

    def clocks(self, many: int) -> None:
        """Make so many clocks."""
        for _ in range(many):
            self._clock()

    def _clock(self) -> None:
        raw, mean, shards = self.raw, self.mean, self.shards
        self.x -= STEP
        np.subtract(self.anchor, self.x, out=self.delta)
        np.isfinite(self.delta.sum())
        self.payload[...] = self.delta
        pushes = [raw.Irecv(box, source, 1) for source, box in self.pushed.items()]
        pulls = [raw.Irecv(self.answers[shards[other]], other, 2) for other in self.others]
        sends = [raw.Isend(self.payload[shards[other]], other, 1) for other in self.others]
        self.wait(pushes)
        mean[...] = 0
        for source in range(len(shards)):
            own = source == self.me
            self.said[...] = self.payload[shards[self.me]] if own else self.pushed[source]
            mean += self.said
        mean /= len(shards)
        self.served -= mean
        np.isfinite(self.served.sum())
        self.told[...] = self.served
        sends += [raw.Isend(self.told, other, 2) for other in self.others]
        self.wait([*pulls, *sends])
        self.answers[shards[self.me]] = self.told
        self.said[...] = self.told
        for shard in shards:
            self.payload[shard] = self.answers[shard]  # out of the payload
            self.anchor[shard] = self.payload[shard]
        self.x[...] = self.anchor


BARE: dict[str, Callable[[Any, int], Any]] = {
    "gossip:ring": BareGossip,
    "ps": BareServers,
}
