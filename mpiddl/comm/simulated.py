"""n ranks in one process, with a virtual clock: the network that the cost formulas speak of.

Idea    A rank is a communicator and an engine. The fabric lets one event happen, the tasks of the
        ranks that it concerns move until all of them wait, and so on: no threads, and between two
        events no time passes. The tasks of a rank do not compete for its processor.
Cost    See fabric.py. Here: a few microseconds of real time per message, whatever the clock says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from mpiddl.comm import Traffic
from mpiddl.comm.engine import Engine, Handle, Task
from mpiddl.comm.fabric import DEFAULT, Fabric, Network, Span
from mpiddl.comm.simulated_rank import SimulatedCommunicator
from mpiddl.comm.together import Gathering
from mpiddl.errors import ConfigurationError, Deadlock, ProtocolError

__all__ = ["Network", "SimulatedCommunicator", "Span", "World"]

T = TypeVar("T")
MANY = 32  # ranks up to which every message is an event
STEPS_AT_ONCE = 100_000  # a rank that moves more often than that at one instant polls for ever


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
    together : bool or None
        Whether collectives are made at once, see together.py, and not of messages; None: where
        there are more than `MANY` ranks, and no chance or trace that asks for messages.
    """

    def __init__(
        self,
        size: int,
        network: Network = DEFAULT,
        *,
        shuffle: int | None = None,
        trace: list[Span] | None = None,
        together: bool | None = None,
    ) -> None:
        if size < 1:
            raise ConfigurationError(f"a world needs at least one rank, found {size}")
        self._fabric = Fabric(size, shuffle, trace)
        if together is None:
            together = size > MANY and shuffle is None and trace is None
        gathering = Gathering(self._fabric, size) if together else None
        self.communicators = [
            SimulatedCommunicator(self._fabric, rank, size, network, Traffic(), "", gathering)
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
