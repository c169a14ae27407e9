"""Stochastic gradient descent: x <- x - gam_t direction.

Source  Robbins & Monro, "A stochastic approximation method", Ann. Math. Stat., 1951.
Letters gam_t `rate`
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from mpiddl.arrays import Array, namespace
from mpiddl.errors import ConfigurationError
from mpiddl.optim import optimizers
from mpiddl.optim.rates import Decreasing, rate_at
from mpiddl.registry import Described

__all__ = ["SGD"]


@optimizers.register("sgd")
@dataclass(frozen=True)
class SGD(Described):
    """Plain SGD.

    Parameters
    ----------
    rate : float or Decreasing
        Step size gam, above 0 and finite.

    Raises
    ------
    ConfigurationError
        If `rate` is not a positive finite number.
    """

    rate: float | Decreasing

    def __post_init__(self) -> None:
        if isinstance(self.rate, Decreasing):
            return
        if not isinstance(self.rate, int | float) or not (isfinite(self.rate) and self.rate > 0):
            raise ConfigurationError(
                f"sgd needs a step size above 0, found {self.rate!r}: write sgd:0.1"
            )

    def open(self, like: Array) -> _SGD:
        """Return the live optimizer for vectors like `like` (b,)."""
        return _SGD(self.rate, like)


class _SGD:
    def __init__(self, rate: float | Decreasing, like: Array) -> None:
        self.rate, self.multiply = rate, namespace(like).multiply
        self.scratch = namespace(like).empty_like(like)

    def apply(self, x: Array, direction: Array, t: int) -> None:
        rate = rate_at(self.rate, t)
        if rate == 1:  # an outer SGD(1) takes the average as it is
            x -= direction
            return
        self.multiply(direction, rate, out=self.scratch)
        x -= self.scratch
