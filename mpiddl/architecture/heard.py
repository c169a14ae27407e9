"""What was heard of one neighbour: its newest model, or those that a script has yet to ask for."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence

from mpiddl.arrays import Array, namespace
from mpiddl.comm import Request

__all__ = ["Heard"]


class Heard:
    """The models of one neighbour by clock; clock -1 is the start.

    Parameters
    ----------
    source : int
        The neighbour.
    start : array (b,)
        Where all begin.
    choices : sequence of int or None
        The clocks of the models to take, in order; None: always the newest, and no other is kept.
    """

    def __init__(self, source: int, start: Array, choices: Sequence[int] | None) -> None:
        self.source, self.newest = source, -1
        self.kept = {-1: (start.copy(), 0)}
        self.spare: list[Array] = []
        self.order = None if choices is None else deque(map(int, choices))
        self.left = Counter(self.order or ())  # how often each is yet to be taken
        self.due, self.request = -1, Request(done=True)

    def put(self, clock: int, model: Array, nbytes: int) -> None:
        """Keep a copy of what was heard, the `model` (b,) after `clock`, in `nbytes` bytes."""
        if self.order is None:
            self._drop(self.newest)
        self.newest = clock
        if self.order is None or self.left[clock]:
            copy = self.spare.pop() if self.spare else namespace(model).empty_like(model)
            copy[...] = model
            self.kept[clock] = copy, nbytes
        if not self.request.done and clock >= self.due:
            self.request.finish()

    def reached(self, at_least: int) -> Request:
        """Return what is done when `take` has a model of at least this clock to give."""
        self.due = self.order[0] if self.order else at_least
        label = f"the model of rank {self.source} after clock {self.due}"
        self.request = Request(label, done=self.newest >= self.due)
        return self.request

    def take(self) -> tuple[int, Array, int]:
        """Return clock, model (b,), valid until the next `put`, and bytes of what is used now."""
        clock = self.order.popleft() if self.order else self.newest
        model, nbytes = self.kept[clock]
        self.left[clock] -= 1
        if self.order is not None and not self.left[clock]:
            self._drop(clock)
        return clock, model, nbytes

    def _drop(self, clock: int) -> None:
        self.spare.append(self.kept.pop(clock)[0])
