"""Operations under way on one rank, and the only place that asks MPI what has ended.

Idea    One list of MPI requests, kept from look to look, and one Testsome over it: a request that
        ended gives its place to the last one, so that a look costs what is outstanding and nothing
        is rebuilt. While something else can move, looks are 100 us apart: with hundreds of
        receives posted a look costs tens of microseconds.
Waiting Linux sleeps no shorter than some 70 us, and MPI moves long messages only while it is
        asked: a sleep in the middle of a collective costs more than its messages. So `idle` first
        looks again and again, letting others by who need the core: for about a millisecond with a
        core for every rank, less with some ranks per core, not at all with many. Then it sleeps,
        longer and longer in one wait.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

from mpiddl.comm import Request
from mpiddl.comm.messages import Incoming, Outgoing
from mpiddl.errors import ProtocolError

__all__ = ["Transfers"]

LOOK = 100e-6  # seconds between two looks while something else can move
BURST = 20  # looks in a row, the core given away before each
SPIN = 50  # bursts in vain before the first sleep, if every rank has a core; less where some share
SHORTEST, LONGEST = 20e-6, 200e-6  # seconds asked of one sleep

_give_way = getattr(os, "sched_yield", lambda: None)  # macOS has none


class Transfers:
    """What is under way on one rank: sends, receives, timers.

    Parameters
    ----------
    testsome : callable
        MPI's Testsome(requests, statuses).
    crowding : float
        Ranks per core.
    """

    def __init__(self, testsome: Callable[[list[Any], list[Any]], Any], crowding: float) -> None:
        self._testsome = testsome
        # Where ranks share cores a burst takes longer, and keeps more of them from their work: 6
        # bursts for two of a core, 1 for four, none from five on (measured).
        self._spin = round(SPIN / max(crowding, 1.0) ** 3)
        self._requests: list[Any] = []
        self._operations: list[Outgoing | Incoming] = []
        self._statuses: list[Any] = []
        self._behind: dict[tuple[int, int, int], deque[Incoming]] = {}  # behind a long receive
        self._timers: list[tuple[float, int, Request]] = []
        self._timed = 0
        self._look_at = 0.0
        self._in_vain = 0  # calls of `idle` in this wait

    def watch(self, request: Any, operation: Outgoing | Incoming) -> None:
        """Tell `operation` when MPI's `request` has ended."""
        self._requests.append(request)
        self._operations.append(operation)

    def receive(self, incoming: Incoming) -> Incoming:
        """Start a receive, or queue it behind a long one of the same line; return it."""
        if self._behind or incoming.long:
            key = incoming.line.key
            if key in self._behind:
                self._behind[key].append(incoming)
                return incoming
            if incoming.long:
                self._behind[key] = deque()
        self.watch(incoming.post(), incoming)
        return incoming

    def timer(self, seconds: float) -> Request:
        """Return a request that is done when `seconds` have passed."""
        request = Request(f"{seconds} s of computation")
        self._timed += 1
        heappush(self._timers, (time.perf_counter() + seconds, self._timed, request))
        return request

    def drain(self, *raws: Any, limit: float = 10.0) -> None:
        """Let the sends of MPI's communicators `raws` end; ProtocolError after `limit` seconds."""
        deadline = time.perf_counter() + limit
        while sends := [o.label for o in self._of(raws) if isinstance(o, Outgoing)]:
            if time.perf_counter() > deadline:
                raise ProtocolError(f"never received: {'; '.join(sends)}")
            self.idle()

    def cancel(self, *raws: Any) -> None:
        """Give up what is under way on `raws`: receives that nobody will answer."""
        for operation in self._of(raws):
            index = self._operations.index(operation)
            self._requests[index].Cancel()
            self._requests[index].Wait()
            self._remove(index)

    def _of(self, raws: tuple[Any, ...]) -> list[Outgoing | Incoming]:
        return [o for o in self._operations if any(o.raw is raw for raw in raws)]

    def progress(self) -> bool:
        """Let finished operations finish, if it is time to look; return whether any did."""
        self._in_vain = 0
        now = time.perf_counter()
        return self._finish(now) if now >= self._look_at else self._expire(now)

    def idle(self) -> None:
        """Let finished operations finish; if there are none, wait a moment for some."""
        if self._finish(time.perf_counter()):
            self._in_vain = 0
            return
        self._in_vain += 1
        asleep = self._in_vain - self._spin
        if asleep <= 0:
            for _ in range(BURST):
                _give_way()
                if self._look():
                    self._in_vain = 0
                    return
            return
        pause = min(SHORTEST * asleep, LONGEST)
        if self._timers:
            pause = min(pause, max(self._timers[0][0] - time.perf_counter(), 0.0))
        time.sleep(pause)

    def _finish(self, now: float) -> bool:
        self._look_at = now + LOOK
        expired = bool(self._timers) and self._expire(now)
        return self._look() or expired

    def _expire(self, now: float) -> bool:
        expired = False
        while self._timers and self._timers[0][0] <= now:
            heappop(self._timers)[2].finish()
            expired = True
        return expired

    def _look(self) -> bool:
        if not self._requests:
            return False
        try:
            ended = self._testsome(self._requests, self._statuses)
        except RuntimeError as error:  # MPI.Exception, such as a message longer than its buffer
            failed = [index for index, request in enumerate(self._requests) if not request]
            labels = "; ".join(self._operations[index].label for index in failed)
            for index in reversed(failed):
                self._remove(index)
            raise ProtocolError(f"MPI failed in: {labels}: {error}") from error
        if not ended:
            return False
        gone = []
        for index, status in zip(ended, self._statuses):  # noqa: B905 - statuses may be longer
            more = self._operations[index].advance(status)
            if more is None:
                gone.append(index)
            else:
                self._requests[index] = more
        for index in sorted(gone, reverse=True):
            self._remove(index)
        return True

    def _remove(self, index: int) -> None:
        operation = self._operations[index]
        request, last = self._requests.pop(), self._operations.pop()
        if index < len(self._requests):
            self._requests[index], self._operations[index] = request, last
        if self._behind and isinstance(operation, Incoming) and operation.long:
            self._follow(operation.line.key)

    def _follow(self, key: tuple[int, int, int]) -> None:
        """Start the receives that waited for a long one of their line, up to the next long one."""
        behind = self._behind[key]
        while behind:
            incoming = behind.popleft()
            self.watch(incoming.post(), incoming)
            if incoming.long:
                return
        del self._behind[key]
