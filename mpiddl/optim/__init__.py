"""How we move: one kind of optimizer, two seats.

| text                | variant     | x moves by                              | options           |
|---------------------|-------------|-----------------------------------------|-------------------|
| `sgd:RATE`          | SGD         | the direction                           |                   |
| `momentum:RATE`     | Momentum    | what directions add up to, fading       | beta, nesterov    |
| `adam:RATE`         | Adam        | their mean over their size, by entry    | beta1, beta2, eps |
| `lars:RATE`         | LARS        | momentum, a layer by its size           | beta, decay       |
| `lamb:RATE`         | LAMB        | Adam, a layer by its size               | as adam, decay    |
| `quasi_global:RATE` | QuasiGlobal | the direction, and where agreements led | beta              |

RATE is a number, alone or with factors that change over time, as in ``0.1@warmup:20@cosine:200``
(factors.py). An L2 term is part of the problem; `decay` is the weight decay of LARS and LAMB, which
their papers put inside the ratio.

The *inner* seat moves a worker's own model at each of its steps; the *outer* seat moves the agreed
model once a clock, by what the exchange brought. S-SGD has only an outer seat (the mean gradient
is applied once), local SGD and gossip an inner one with an outer SGD(1) that takes the average as
it is. What the outer seat sees is a mean over workers and over the steps of a clock, so n workers
and H steps leave the size of a step as it is. `quasi_global` sits in both, with one state. Reading
order: sgd.py, rates.py, factors.py, momentum.py, quasi_global.py, adam.py, trust.py, lars.py,
lamb.py; options.py is what they share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

from mpiddl.arrays import Array
from mpiddl.errors import ConfigurationError
from mpiddl.registry import Registry

__all__ = ["Optimizer", "Pair", "Rule", "Seats", "optimizers"]


class Optimizer(Protocol):
    """The live end of a rule, for one vector (b,); it owns its state."""

    def apply(self, x: Array, direction: Array, t: int) -> None:
        """Move `x` (b,) in place against `direction` (b,); `t` counts steps or clocks."""


class Rule(Protocol):
    """A frozen description of an optimizer, e.g. ``SGD(0.1)``."""

    whole_layers: ClassVar[bool]  # whether a layer that is cut into two vectors would change it

    def open(self, like: Array, layers: tuple[slice, ...]) -> Optimizer:
        """Return a live optimizer with fresh state for vectors like `like` (b,).

        `layers` are the parts of `like` that belong to one layer each.
        """


@runtime_checkable
class Pair(Rule, Protocol):
    """A rule that takes both seats, which share its state."""

    def pair(self, like: Array) -> tuple[Optimizer, Optimizer]:
        """Return the live optimizers of the inner and the outer seat for vectors like `like`."""


@dataclass(frozen=True)
class Seats:
    """Who moves what: `inner` at each step of a worker (or nobody), `outer` at each agreement.

    Raises
    ------
    ConfigurationError
        If a rule that takes both seats has one only.
    """

    inner: Rule | None
    outer: Rule

    def __post_init__(self) -> None:
        for rule in (self.inner, self.outer):
            if isinstance(rule, Pair) and self.inner != self.outer:
                raise ConfigurationError(
                    f"{rule} takes both seats, found {self}: write it alone, without >"
                )

    def open(self, like: Array, layers: tuple[slice, ...]) -> tuple[Optimizer | None, Optimizer]:
        """Return the live optimizers of both seats, as `Rule.open` does."""
        if isinstance(self.outer, Pair):
            return self.outer.pair(like)
        inner = None if self.inner is None else self.inner.open(like, layers)
        return inner, self.outer.open(like, layers)

    def __str__(self) -> str:
        return f"{'none' if self.inner is None else self.inner}>{self.outer}"


optimizers: Registry[Any] = Registry("mpiddl.optim", "optimizer")
