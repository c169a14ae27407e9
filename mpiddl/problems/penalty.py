"""What is added to the mean loss over data so that its minimum is tame, or untamed on purpose.

Ridge      (lam/2) |x|^2                     curvature lam everywhere
Valleys    alpha sum_j x_j^2/(1 + x_j^2)     curvature in [-alpha/2, 2 alpha], see nonconvex.py
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpiddl.arrays import Array
from mpiddl.problems.nonconvex import valley, valley_slope

__all__ = ["Penalty", "Ridge", "Valleys"]


@dataclass(frozen=True)
class Ridge:
    """(lam/2) |x|^2 with weight `lam`, at least 0."""

    lam: float

    @property
    def L(self) -> float:
        """Smoothness."""
        return self.lam

    def value(self, x: Array) -> float:
        """Return the penalty at `x`, float64 (d,)."""
        return 0.5 * self.lam * float(x @ x)

    def slope(self, x: Array) -> Array:
        """Return its gradient at some entries `x` (b,), a new array."""
        return self.lam * x


@dataclass(frozen=True)
class Valleys:
    """alpha sum_j x_j^2/(1 + x_j^2) with weight `alpha`, at least 0."""

    alpha: float

    @property
    def L(self) -> float:
        """Smoothness."""
        return 2.0 * self.alpha

    def value(self, x: Array) -> float:
        """Return the penalty at `x`, float64 (d,)."""
        return valley(self.L, x)

    def slope(self, x: Array) -> Array:
        """Return its gradient at some entries `x` (b,), a new array."""
        return valley_slope(self.L, x, np.empty_like(x))


Penalty = Ridge | Valleys
