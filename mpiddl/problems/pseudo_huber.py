"""A smooth Huber function: convex, with gradients that are bounded.

    f(x) = sum_j a_j c^2 (sqrt(1 + (x_j/c)^2) - 1)      f_j' = a_j x_j/sqrt(1 + (x_j/c)^2)
    f_j'' = a_j/(1 + (x_j/c)^2)^(3/2)                   in (0, a_j]: a_j at 0

Letters a `_spectrum` (d,) | c `_width` | noise and shifts s_i: synthetic.py
Exact   L = max a, mu = 0 (convex, flat far out); the minimum is 0 at 0 alone
        G2 = sum_j (a_j c)^2 + sigma2 + zeta2 bounds (1/n) sum E|g_i|^2 everywhere, and far out it
        is attained: the shifts add up to nothing, so there is no cross term
Use     local-sgd-convex-iid: where it is flat, local models drift apart as fast as that theorem
        allows
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mpiddl.arrays import Array
from mpiddl.problems import problems
from mpiddl.problems.base import number
from mpiddl.problems.quadratic import SPECTRUM, spectrum_of
from mpiddl.problems.synthetic import Synthetic

__all__ = ["PseudoHuber"]


@problems.register("pseudo_huber")
class PseudoHuber(Synthetic):
    """A smooth Huber function: convex, with bounded gradients.

    f(x) = sum_j a_j c^2 (sqrt(1 + (x_j/c)^2) - 1) with noise and shifts.

    Parameters
    ----------
    workers, seed : int
        Number n of workers; the one seed.
    spectrum : sequence of float, (d,)
        The a_j, each above 0.
    c : float
        Where parabola turns into cone, above 0.
    **options
        sigma2, zeta2, radius, layers and dtype, see `Synthetic`.

    Raises
    ------
    ConfigurationError
        If an option is out of range; the message names it.
    """

    def __init__(
        self, workers: int, seed: int, *, spectrum: Any = SPECTRUM, c: float = 1.0, **options: Any
    ) -> None:
        a = spectrum_of(spectrum, above=True)
        self._width = number("c", c, above=True)
        curvature = (max(a), 0.0)
        super().__init__("pseudo_huber", workers, seed, d=len(a), curvature=curvature, **options)
        self._spectrum = np.array(a, dtype=self.dtype)
        self.optimum = np.zeros(len(a))
        self.G2 = sum((value * self._width) ** 2 for value in a) + self._sigma2 + self._zeta2

    def _value(self, x: Array) -> float:
        t = np.minimum(np.abs(x) / self._width, 1e300)  # an inf would give inf/inf
        rise = t * (t / (1.0 + np.hypot(1.0, t)))
        return self._width**2 * float(self._spectrum @ rise)

    def _slope(self, x: Array, out: Array, span: slice) -> None:
        np.divide(x, self._width, out=out)
        np.hypot(out, 1.0, out=out)
        np.divide(x, out, out=out)
        out *= self._spectrum[span]
