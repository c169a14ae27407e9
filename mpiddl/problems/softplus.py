"""A skewed valley: strongly convex, steeper on one side than on the other.

    f(x) = sum_j log(1 + exp(a x_j))/a - c x_j + mu x_j^2/2      f_j' = q(a x_j) - c + mu x_j
    f_j'' = a q (1 - q) + mu in (mu, a/4 + mu]                   q(z) = 1/(1 + exp(-z))

Letters a `_steepness` | c `_tilt` | mu `_mu` | noise and shifts s_i: synthetic.py
Exact   L = a/4 + mu, attained at 0; mu, approached far out; x* by Newton's method, entries alike
Why     f' is not linear, so noise moves the mean: of the problems whose workers are alike this is
        the one where the number of local steps shows in the loss (local-sgd-convex-iid,
        local-sgd-sc-iid).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mpiddl.arrays import Array
from mpiddl.problems import problems
from mpiddl.problems.base import number, whole
from mpiddl.problems.logistic_loss import refusals
from mpiddl.problems.minimum import newton
from mpiddl.problems.synthetic import Synthetic

__all__ = ["Softplus"]


@problems.register("softplus")
class Softplus(Synthetic):
    """A skewed valley, where noise moves the mean: local steps show in the loss.

    f(x) = sum_j log(1 + exp(a x_j))/a - c x_j + mu x_j^2/2 with noise and shifts.

    Parameters
    ----------
    workers, seed : int
        Number n of workers; the one seed.
    d : int
        Number of parameters, at least 1.
    a, c, mu : float
        Steepness, above 0; tilt; strong convexity, above 0.
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
        a: float = 4.0,
        c: float = 0.2,
        mu: float = 0.1,
        **options: Any,
    ) -> None:
        self._steepness, self._mu = number("a", a, above=True), number("mu", mu, above=True)
        self._tilt = number("c", c, -np.inf)
        curvature = (self._steepness / 4 + self._mu, self._mu)
        d = whole("d", d, 1)
        super().__init__("softplus", workers, seed, d=d, curvature=curvature, **options)
        bottom = newton(self._derivative, self._second, np.zeros(1))
        self.optimum = np.full(d, bottom[0])
        self.constants = replace(self.constants, f_star=self.loss(self.optimum))

    def _derivative(self, x: Array) -> Array:
        return refusals(-self._steepness * x) - self._tilt + self._mu * x

    def _second(self, x: Array) -> Array:
        q = refusals(self._steepness * x)
        return np.diag(self._steepness * q * (1.0 - q) + self._mu)

    def _value(self, x: Array) -> float:
        rise = np.logaddexp(0.0, self._steepness * x) / self._steepness
        return float(np.sum(rise - self._tilt * x + 0.5 * self._mu * x * x))

    def _slope(self, x: Array, out: Array, span: slice) -> None:
        out[...] = self._derivative(x)
