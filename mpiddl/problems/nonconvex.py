"""A smooth function with one valley and flat, concave flanks.

    f(x) = sum_j (L/2) x_j^2/(1 + x_j^2)       f_j' = L x_j/(1 + x_j^2)^2
    f_j'' = L (1 - 3 x_j^2)/(1 + x_j^2)^3      in [-L/4, L]: L at 0, -L/4 at 1

Letters L `_scale` | noise and shifts s_i: synthetic.py
Exact   smooth with L, not convex (mu unknown), minimum 0 at 0 alone, |f_j'| <= 0.3248 L.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mpiddl.arrays import Array
from mpiddl.problems import problems
from mpiddl.problems.base import number, whole
from mpiddl.problems.synthetic import Synthetic

__all__ = ["NonConvex", "valley", "valley_slope"]


def valley(L: float, x: Array) -> float:
    """Return f at `x`, float64 (d,)."""
    square = np.minimum(x * x, 1e300)  # an inf would give inf/inf
    return 0.5 * L * float(np.sum(square / (1.0 + square)))


def valley_slope(L: float, x: Array, out: Array) -> Array:
    """Write grad f at `x` (b,) into `out` (b,) and return it."""
    np.multiply(x, x, out=out)
    out += 1.0
    out *= out
    np.divide(x, out, out=out)
    out *= L
    return out


@problems.register("nc")
class NonConvex(Synthetic):
    """A valley with flat, concave flanks: not convex, constants exact.

    f(x) = sum_j (L/2) x_j^2/(1 + x_j^2) with noise and shifts.

    Parameters
    ----------
    workers, seed : int
        Number n of workers; the one seed.
    d : int
        Number of parameters, at least 1.
    L : float
        Smoothness, above 0.
    **options
        sigma2, zeta2, radius, layers and dtype, see `Synthetic`.

    Raises
    ------
    ConfigurationError
        If an option is out of range; the message names it.
    """

    def __init__(
        self, workers: int, seed: int, *, d: int = 10, L: float = 1.0, **options: Any
    ) -> None:
        self._scale = number("L", L, above=True)
        d = whole("d", d, 1)
        super().__init__("nc", workers, seed, d=d, curvature=(self._scale, None), **options)
        self.optimum = np.zeros(d)

    def _value(self, x: Array) -> float:
        return valley(self._scale, x)

    def _slope(self, x: Array, out: Array, span: slice) -> None:
        valley_slope(self._scale, x, out)
