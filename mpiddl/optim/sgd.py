"""Stochastic gradient descent: x <- x - gam_t direction.

Source  Robbins & Monro, "A stochastic approximation method", Ann. Math. Stat., 1951.
Paper   x <- x - gam_t g
Letters g `direction` | gam_t `rate`
Cost    one scratch vector (b,)
"""

from __future__ import annotations

from dataclasses import dataclass

from mpiddl.arrays import Array, namespace
from mpiddl.optim import optimizers
from mpiddl.optim.options import Stepping

__all__ = ["SGD"]


@optimizers.register("sgd")
@dataclass(frozen=True)
class SGD(Stepping):
    """Plain SGD; `rate` is its only field."""

    @property
    def as_it_is(self) -> bool:
        """Whether the outer seat goes where the exchange says."""
        return self.rate == 1

    def open(self, like: Array, layers: tuple[slice, ...]) -> _SGD:
        """Return the live optimizer for vectors like `like` (b,)."""
        return _SGD(self, like)


class _SGD:
    def __init__(self, rule: SGD, like: Array) -> None:
        self.rule, self.multiply = rule, namespace(like).multiply
        self.scratch = namespace(like).empty_like(like)

    def apply(self, x: Array, direction: Array, t: int) -> None:
        rate = self.rule.at(t)
        if rate == 1:  # an outer SGD(1) takes the average as it is
            x -= direction
            return
        self.multiply(direction, rate, out=self.scratch)
        x -= self.scratch
