"""How we move: one kind of optimizer, two seats.

The *inner* seat moves a worker's own model at each of its steps; the *outer* seat moves the agreed
model once a clock, by what the exchange brought. S-SGD has only an outer seat (the mean gradient
is applied once), local SGD and gossip an inner one with an outer SGD(1) that takes the average as
it is. Reading order: rates.py, sgd.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from mpiddl.arrays import Array
from mpiddl.registry import Registry

__all__ = ["Optimizer", "Rule", "Seats", "optimizers"]


class Optimizer(Protocol):
    """The live end of a rule, for one vector (b,); it owns its state."""

    def apply(self, x: Array, direction: Array, t: int) -> None:
        """Move `x` (b,) in place against `direction` (b,); `t` counts steps or clocks."""


class Rule(Protocol):
    """A frozen description of an optimizer, e.g. ``SGD(0.1)``."""

    def open(self, like: Array) -> Optimizer:
        """Return a live optimizer with fresh state for vectors like `like`."""


@dataclass(frozen=True)
class Seats:
    """Who moves what: `inner` at each step of a worker (or nobody), `outer` at each agreement."""

    inner: Rule | None
    outer: Rule

    def __str__(self) -> str:
        return f"{'none' if self.inner is None else self.inner}>{self.outer}"


optimizers: Registry[Any] = Registry("mpiddl.optim", "optimizer")
