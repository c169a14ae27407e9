"""The floor: messages between ranks, under real MPI or in a simulated world.

Everything above speaks to a `Communicator`: non-blocking sends and receives of flat buffers, a
clock, and counts of what was handed over. `mpi.py` is the real one, `simulated.py` the one with
virtual time; both are driven by `engine.py`, whose tasks are generators: `yield` is the only
place where anything waits. Read engine.py first, then fabric.py, simulated_rank.py, simulated.py
and together.py, which makes collectives of very many ranks at once; mpi.py and its parts,
transfers.py, messages.py, staging.py, aside.py; guard.py stands by itself.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, Protocol

from mpiddl.errors import ProtocolError

__all__ = ["Communicator", "Count", "Request", "Traffic"]


@dataclass
class Count:
    """How many messages, and how many bytes in them."""

    messages: int = 0
    bytes: int = 0


@dataclass
class Traffic:
    """What one rank has sent and received so far, counted where it is handed to the transport.

    `to` and `heard` split the totals by peer, so that senders and receivers can be reconciled;
    `staged_bytes` were copied between a device and host memory on their way.
    """

    sent: Count = field(default_factory=Count)
    received: Count = field(default_factory=Count)
    to: defaultdict[int, Count] = field(default_factory=lambda: defaultdict(Count))
    heard: defaultdict[int, Count] = field(default_factory=lambda: defaultdict(Count))
    staged_bytes: int = 0

    def send(self, dest: int, nbytes: int) -> None:
        """Count one message that was handed over for `dest`."""
        for count in (self.sent, self.to[dest]):
            count.messages += 1
            count.bytes += nbytes

    def receive(self, source: int, nbytes: int) -> None:
        """Count one message of `nbytes` that arrived from `source`."""
        for count in (self.received, self.heard[source]):
            count.messages += 1
            count.bytes += nbytes


class Waiter(Protocol):
    """Whoever is told that a request is done."""

    def arrived(self) -> None:
        """Note that one of the requests waited for is done."""


class Request:
    """One operation in flight.

    `done` turns True once and stays so. `nbytes` is then the size of the message that came
    (0 for operations that carry none); `label` says what it is, for messages about deadlocks.
    """

    __slots__ = ("done", "label", "nbytes", "waiter")

    def __init__(self, label: str = "", done: bool = False) -> None:
        self.label = label
        self.done = done
        self.nbytes = 0
        self.waiter: Waiter | None = None

    def finish(self, nbytes: int = 0) -> None:
        """Mark the request done and tell the task that waits for it."""
        if self.done:
            raise ProtocolError(f"request {self.label!r} finished twice")
        self.done, self.nbytes = True, nbytes
        if self.waiter is not None:
            waiter, self.waiter = self.waiter, None
            waiter.arrived()


class Communicator(Protocol):
    """The ranks of a run and the messages between them.

    Buffers are one-dimensional and C-contiguous: anything else is a `BufferMismatch`. From a call
    until its request is done the buffer belongs to the communicator, which keeps it alive; sends
    need not be waited for. Messages of one pair and one tag arrive in order.
    """

    rank: int
    size: int
    traffic: Traffic

    def isend(self, buf: Any, dest: int, tag: int = 0) -> Request:
        """Start sending the whole of `buf` (which may be empty) to rank `dest`."""

    def irecv(self, buf: Any, source: int, tag: int = 0) -> Request:
        """Start receiving into `buf`; a shorter message leaves the rest and tells its `nbytes`."""

    def add(self, target: Any, other: Any) -> Request:
        """Add `other` to `target` in place; the simulator charges gamma seconds a byte."""

    def spend(self, seconds: float) -> Request:
        """Let `seconds` of computation pass: virtual in the simulator, a timer under MPI."""

    def now(self) -> float:
        """Return the seconds since the run began, wall or virtual."""

    def lane(self, index: int) -> Communicator:
        """Return the same ranks with tags of their own; the traffic is shared."""

    def uncounted(self) -> Communicator:
        """Return the same ranks with tags and a traffic of their own, for measurements."""
