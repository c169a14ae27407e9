"""The wires and the clock of a simulated world: what takes how long, and in which order it ends.

Idea    One heap of events, ordered by (time, sequence number). A transfer, an addition and a
        computation are events; when one happens its requests are done. Nothing depends on hashes,
        threads or the wall clock: two runs are alike to the last event.
Cost    A message of m bytes takes alpha + beta m and occupies the sender's send port and the
        receiver's receive port: a rank sends one and receives one at a time, both at once.
        Rendezvous: a transfer starts once both sides are posted and both ports are free. Of pairs
        that match at one instant, the send posted first is served first, and of sends posted at
        one instant every rank's first before anyone's second. Adding m bytes takes gamma m.
Data    Copied once, on arrival, from the sender's buffer straight into the receiver's: a sender
        that writes too early spoils its message here as it may on a real network.
Chance  A fabric that shuffles lets every transfer arrive later by a random time, between a
        microsecond and a second; messages of one line still arrive in order, as under MPI.
Source  Hockney, "The communication challenge for MPP", 1994 (time of a message).
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from heapq import heappop, heappush
from random import Random
from typing import NamedTuple, TypeAlias

from mpiddl.arrays import Array
from mpiddl.comm import Request, Traffic
from mpiddl.errors import BufferMismatch, ConfigurationError, ProtocolError

__all__ = ["DEFAULT", "FREE", "Fabric", "Line", "Network", "Operation", "Span"]

Line: TypeAlias = tuple[int, int, int, str]  # source, dest, tag, lane


@dataclass(frozen=True)
class Network:
    """What messages and additions cost; each at least 0, else ConfigurationError.

    Parameters
    ----------
    alpha : float
        Seconds per message.
    beta : float
        Seconds per byte sent.
    gamma : float
        Seconds per byte added.
    """

    alpha: float
    beta: float
    gamma: float = 0.0

    def __post_init__(self) -> None:
        if not all(0 <= cost < float("inf") for cost in (self.alpha, self.beta, self.gamma)):
            raise ConfigurationError(f"the costs of a network are finite and >= 0, found {self}")


DEFAULT = Network(2.0**-16, 2.0**-30, 2.0**-33)  # 15 us, 1 GB/s, 9 GB/s: powers of two add exactly
FREE = Network(0.0, 0.0)  # of measurements, which neither wait for ports nor occupy them


class Span(NamedTuple):
    """One row of a trace: a transfer from `rank` to `peer`, or a computation of `rank` alone.

    `label` tells tag and lane of a transfer, `start` and `end` are virtual seconds.
    """

    kind: str
    rank: int
    peer: int
    bytes: int
    label: str
    start: float
    end: float


class Operation(Request):
    """A send or a receive of `buf`, or a stretch of computation (no buffer), of one rank."""

    __slots__ = ("buf", "rank", "sends", "traffic", "turn")

    def __init__(
        self, rank: int, label: str, traffic: Traffic, buf: Array = None, sends: bool = False
    ) -> None:
        super().__init__(label)
        self.rank, self.traffic, self.buf, self.sends = rank, traffic, buf, sends
        self.turn = (0.0, 0)  # of a send: when it was posted, and how many of its rank before it


Turn: TypeAlias = tuple[float, int]
Pair: TypeAlias = tuple[Turn, int, Line, Operation, Operation, Network]  # the int breaks ties


class Fabric:
    """Everything under way between `size` ranks, and the time `now` in seconds.

    `shuffle` is the seed of random delays, None for none; `trace` is given a row per transfer and
    computation.
    """

    def __init__(
        self, size: int, shuffle: int | None = None, trace: list[Span] | None = None
    ) -> None:
        self.now = 0.0
        self.trace = trace
        self._chance = None if shuffle is None else Random(shuffle)
        self._latest: defaultdict[Line, float] = defaultdict(float)  # arrival, where shuffled
        self._events: list[tuple[float, int, Operation, Operation | None]] = []
        self._scheduled = 0
        self._posted: defaultdict[Line, deque[Operation]] = defaultdict(deque)
        self._matched: list[Pair] = []
        self._turns = [(0.0, 0)] * size
        self._sends_until = [0.0] * size
        self._receives_until = [0.0] * size

    def post(self, line: Line, operation: Operation, network: Network) -> None:
        """Match an operation with its counterpart on the same line, first in, first out.

        Raises
        ------
        ProtocolError
            If the two sides have different dtypes.
        BufferMismatch
            If the message does not fit into the receiver's buffer.
        """
        if operation.sends:
            time, count = self._turns[line[0]]
            operation.turn = (self.now, count + 1 if time == self.now else 0)
            self._turns[line[0]] = operation.turn
        queue = self._posted[line]  # holds only sends or only receives
        if not queue or queue[0].sends is operation.sends:
            queue.append(operation)
            return
        other = queue.popleft()
        sent, received = (operation, other) if operation.sends else (other, operation)
        if sent.buf.dtype != received.buf.dtype or sent.buf.size > received.buf.size:
            raise _misfit(sent, received)
        if network is FREE:
            self.schedule(self.now, received, sent)
        else:
            entry = (sent.turn, len(self._matched), line, sent, received, network)
            self._matched.append(entry)

    def _give_ports(self) -> None:
        """Start the transfers of all pairs that matched at this instant."""
        for _, _, line, sent, received, network in sorted(self._matched):
            source, dest, tag, lane = line
            start = max(self.now, self._sends_until[source], self._receives_until[dest])
            until = start + (network.alpha + network.beta * sent.buf.nbytes)
            self._sends_until[source] = self._receives_until[dest] = until
            if self._chance is not None:
                until = max(until + 2.0 ** self._chance.uniform(-20, 0), self._latest[line])
                self._latest[line] = until
            self.schedule(until, received, sent)
            if self.trace is not None:
                where = f"tag {tag}{lane}"
                row = Span("transfer", source, dest, sent.buf.nbytes, where, start, until)
                self.trace.append(row)
        self._matched.clear()

    def schedule(self, time: float, operation: Operation, sent: Operation | None = None) -> None:
        """Let `operation` be done at `time`: a computation, or the receive of what was `sent`."""
        self._scheduled += 1
        heappush(self._events, (time, self._scheduled, operation, sent))

    def compute(self, seconds: float, computation: Operation) -> None:
        """Let `computation` be done when `seconds` have passed."""
        until = self.now + seconds
        self.schedule(until, computation)
        if self.trace is not None:
            rank = computation.rank
            self.trace.append(
                Span("computation", rank, rank, 0, computation.label, self.now, until)
            )

    def happen(self) -> tuple[int, ...]:
        """Let the next event happen; return the ranks that it concerns, none if nothing is left."""
        if self._matched and (not self._events or self._events[0][0] > self.now):
            self._give_ports()
        if not self._events:
            return ()
        self.now, _, operation, sent = heappop(self._events)
        if sent is None:
            operation.finish()
            return (operation.rank,)
        nbytes = sent.buf.nbytes
        operation.buf[: sent.buf.size] = sent.buf
        operation.traffic.receive(sent.rank, nbytes)
        operation.finish(nbytes)
        sent.finish()
        return (operation.rank, sent.rank)

    def unanswered(self) -> list[Operation]:
        """Return the sends and receives that were never matched, by line and order."""
        return [operation for _, queue in sorted(self._posted.items()) for operation in queue]


def _misfit(sent: Operation, received: Operation) -> Exception:
    """Tell what is wrong with a pair."""
    pair = f"rank {sent.rank}, {sent.label}; rank {received.rank}, {received.label}"
    if sent.buf.dtype != received.buf.dtype:
        return ProtocolError(f"{pair}: {sent.buf.dtype} meets {received.buf.dtype}")
    return BufferMismatch(f"{pair}: {sent.buf.nbytes} bytes meet room for {received.buf.nbytes}")
