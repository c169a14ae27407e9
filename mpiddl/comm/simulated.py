"""n ranks in one process, with a virtual clock: the network that the cost formulas speak of.

Idea    A rank is a communicator and an engine. The fabric lets one event happen, the tasks of the
        ranks that it concerns move until all of them wait, and so on: no threads, and between two
        events no time passes. The tasks of a rank do not compete for its processor.
Cost    See fabric.py. Here: a few microseconds of real time per message, whatever the clock says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from mpiddl.arrays import Array
from mpiddl.comm import Request, Traffic
from mpiddl.comm.buffers import require_flat, require_peer, require_target
from mpiddl.comm.engine import Engine, Handle, Task
from mpiddl.comm.fabric import DEFAULT, FREE, Fabric, Network, Operation, Span
from mpiddl.errors import ConfigurationError, Deadlock, ProtocolError

__all__ = ["Network", "SimulatedCommunicator", "Span", "World"]

T = TypeVar("T")
STEPS_AT_ONCE = 100_000  # a rank that moves more often than that at one instant polls for ever
NO_TIME = Request("nothing", done=True)


class SimulatedCommunicator:
    """One rank of a `World`; see `mpiddl.comm.Communicator`.

    Parameters
    ----------
    fabric : Fabric
        Carries the messages and owns the clock.
    rank, size : int
        This rank, and how many there are.
    network : Network
        What this rank's messages and additions cost.
    traffic : Traffic
        Where its messages are counted.
    where : str
        The lane: tells its messages from those of other lanes.
    """

    __slots__ = ("_fabric", "_where", "network", "rank", "size", "traffic")

    def __init__(
        self,
        fabric: Fabric,
        rank: int,
        size: int,
        network: Network,
        traffic: Traffic,
        where: str = "",
    ) -> None:
        self._fabric, self.rank, self.size = fabric, rank, size
        self.network, self.traffic, self._where = network, traffic, where

    def isend(self, buf: Array, dest: int, tag: int = 0) -> Request:
        """Start sending `buf` (b,) of any dtype; see the protocol and `Fabric.post` for errors."""
        require_flat(buf)
        require_peer(self, dest, tag)
        label = f"send to {dest}, tag {tag}{self._where}"
        send = Operation(self.rank, label, self.traffic, buf, sends=True)
        self.traffic.send(dest, buf.nbytes)
        self._fabric.post((self.rank, dest, tag, self._where), send, self.network)
        return send

    def irecv(self, buf: Array, source: int, tag: int = 0) -> Request:
        """Start receiving into `buf` (b,), of the sender's dtype and at least its size."""
        require_target(buf)
        require_peer(self, source, tag)
        label = f"recv from {source}, tag {tag}{self._where}"
        receive = Operation(self.rank, label, self.traffic, buf)
        self._fabric.post((source, self.rank, tag, self._where), receive, self.network)
        return receive

    def iallreduce(self, x: Array) -> Request:
        """Refuse, with a ConfigurationError: there is no MPI here."""
        raise ConfigurationError(
            "MPI's own all-reduce exists only under MPI: choose one of mpiddl's, such as ring"
        )

    def add(self, target: Array, other: Array) -> Request:
        """Add `other` to `target` in place, at once; done gamma seconds a byte later."""
        require_target(target)
        target += other
        return self._pass(self.network.gamma * target.nbytes, "addition")

    def spend(self, seconds: float) -> Request:
        """Let `seconds` of virtual time pass; ProtocolError unless finite and at least 0."""
        if not 0 <= seconds < float("inf"):
            raise ProtocolError(f"a computation takes a finite time, at least 0: spend({seconds})")
        return self._pass(seconds, "computation")

    def _pass(self, seconds: float, label: str) -> Request:
        if seconds == 0:
            return NO_TIME
        computation = Operation(self.rank, label, self.traffic)
        self._fabric.compute(seconds, computation)
        return computation

    def now(self) -> float:
        """Return the virtual seconds since the world began."""
        return self._fabric.now

    def lane(self, index: int) -> SimulatedCommunicator:
        """Return the same rank with tags of its own and the same traffic."""
        return self._twin(self.network, self.traffic, f"{self._where}, lane {index}")

    def uncounted(self) -> SimulatedCommunicator:
        """Return the same rank with tags and traffic of its own; its messages take no time."""
        return self._twin(FREE, Traffic(), f"{self._where}, uncounted")

    def _twin(self, network: Network, traffic: Traffic, where: str) -> SimulatedCommunicator:
        return SimulatedCommunicator(self._fabric, self.rank, self.size, network, traffic, where)


class World:
    """The ranks of a simulated run.

    Parameters
    ----------
    size : int
        Number of ranks, at least 1.
    network : Network
        What messages cost; by default 15 us, 1 GB/s, and 9 GB/s for additions.
    shuffle : int or None
        Seed of random delays of all messages; None: none.
    trace : list or None
        Is given a `Span` for every transfer and computation.
    """

    def __init__(
        self,
        size: int,
        network: Network = DEFAULT,
        *,
        shuffle: int | None = None,
        trace: list[Span] | None = None,
    ) -> None:
        if size < 1:
            raise ConfigurationError(f"a world needs at least one rank, found {size}")
        self._fabric = Fabric(size, shuffle, trace)
        self.communicators = [
            SimulatedCommunicator(self._fabric, rank, size, network, Traffic())
            for rank in range(size)
        ]
        self._engines: list[Engine] = []
        self._moving = 0

    @property
    def now(self) -> float:
        """Virtual seconds since the world began."""
        return self._fabric.now

    def run(self, program: Callable[[SimulatedCommunicator, Engine], Task[T]]) -> list[T]:
        """Run `program` on every rank until every task has ended and every message is there.

        Clock and traffic go on from the run before; a world whose run failed is of no more use.

        Parameters
        ----------
        program : callable
            Called once per rank with its communicator and engine; returns that rank's task.

        Returns
        -------
        list
            What the tasks returned, by rank.

        Raises
        ------
        Deadlock
            If tasks wait and nothing is under way; tells who waits for what.
        ProtocolError
            If a send or a receive is left without its counterpart.
        """
        self._engines = [Engine() for _ in self.communicators]
        handles: list[Handle[T]] = []
        try:
            for comm, engine in zip(self.communicators, self._engines, strict=True):
                self._moving = comm.rank
                handles.append(engine.start(program(comm, engine), "main"))
                self._settle(comm.rank)
            while ranks := self._fabric.happen():
                for rank in ranks:
                    self._settle(rank)
        except Exception as error:
            error.add_note(f"on simulated rank {self._moving}, at {self.now} s")
            raise
        self._require_end()
        return [handle.value for handle in handles]

    def _settle(self, rank: int) -> None:
        """Move the tasks of a rank until all of them wait."""
        engine = self._engines[rank]
        self._moving = rank
        if engine.ready or engine.watching:
            for _ in range(STEPS_AT_ONCE):
                if not engine.step():
                    return
            names = ", ".join(sorted(task.label for task in engine.ready))
            raise ProtocolError(f"{names}: a task that polls never lets time pass, let it wait")

    def _require_end(self) -> None:
        left = [f"  rank {each.rank}: {each.label}" for each in self._fabric.unanswered()]
        waits = []
        for rank, engine in enumerate(self._engines):
            tasks = sorted(str(task) for task in engine.alive) or ["all tasks have ended"]
            waits += [f"  rank {rank}: {task}" for task in tasks]
        if any(engine.alive for engine in self._engines):
            lines = [f"no rank can move, at {self.now} s", *waits, "unanswered:", *left]
            raise Deadlock("\n".join(lines))
        if left:
            raise ProtocolError("\n".join(["the run ended with messages unanswered:", *left]))
