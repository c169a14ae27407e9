"""Whose turn it is: anybody's, or that of the next in a script."""

from __future__ import annotations

from collections.abc import Sequence

from mpiddl.comm import Request

__all__ = ["Gate"]


class Gate:
    """The order of events at one place.

    Parameters
    ----------
    order : sequence of int or None
        Whose event comes when; None: as they come.
    """

    def __init__(self, order: Sequence[int] | None) -> None:
        self.order, self.past = order, 0
        self.waiting: dict[int, Request] = {}

    def turn(self, who: int) -> Request:
        """Return what is done when it is the turn of `who`, who then says when it is over."""
        turn = Request(f"turn of rank {who}", done=self.order is None)
        if self.order is not None:
            self.waiting[who] = turn
            self._call()
        return turn

    def over(self) -> None:
        """Give the turn to the next."""
        self.past += 1
        self._call()

    def _call(self) -> None:
        if self.order is not None and self.past < len(self.order):
            turn = self.waiting.pop(int(self.order[self.past]), None)
            if turn is not None:
                turn.finish()
