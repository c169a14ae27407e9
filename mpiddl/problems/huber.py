"""The Huber function: a parabola at the bottom, straight flanks; the worst case of descent.

    f(x) = sum_j h(x_j)      h(t) = L t^2/2 for |t| <= c,  L c |t| - L c^2/2 beyond

Letters L `_scale` | c `_width` | noise and shifts s_i: synthetic.py
Exact   L, mu = 0 (convex); |f_j'| <= L c; the minimum is 0 at 0 alone
Why     gradient descent with step gam from |x0| = R attains f(x_T) - f* = L R^2/(4 T gam L + 2) if
        c = R/sqrt(d)/(2 T gam L + 1), in exact arithmetic (theorem gd-convex). One coordinate is
        the known extremal function; with equal entries of x0 the sum of d of them is one too.
Source  Drori & Teboulle, "Performance of first-order methods for smooth convex minimization", 2014
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mpiddl.arrays import Array
from mpiddl.problems import problems
from mpiddl.problems.base import number, whole
from mpiddl.problems.synthetic import Synthetic

__all__ = ["Huber"]


@problems.register("huber")
class Huber(Synthetic):
    """The Huber function: convex, the worst case of gradient descent.

    f(x) = sum_j h(x_j) with noise and shifts.

    Parameters
    ----------
    workers, seed : int
        Number n of workers; the one seed.
    d : int
        Number of parameters, at least 1.
    L : float
        Smoothness, above 0.
    c : float
        Where the parabola ends, above 0.
    **options
        sigma2, zeta2, radius, layers and dtype, see `Synthetic`.

    Raises
    ------
    ConfigurationError
        If an option is out of range; the message names it.
    """

    def __init__(
        self,
        workers: int,
        seed: int,
        *,
        d: int = 10,
        L: float = 1.0,
        c: float = 0.1,
        **options: Any,
    ) -> None:
        self._scale, self._width = number("L", L, above=True), number("c", c, above=True)
        d = whole("d", d, 1)
        super().__init__("huber", workers, seed, d=d, curvature=(self._scale, 0.0), **options)
        self.optimum = np.zeros(d)

    def _value(self, x: Array) -> float:
        size = np.abs(x)
        inside = np.minimum(size, self._width)
        return self._scale * float(inside @ (size - 0.5 * inside))

    def _slope(self, x: Array, out: Array, span: slice) -> None:
        np.clip(x, -self._width, self._width, out=out)
        out *= self._scale
