"""The mean logistic loss over some rows, its derivatives, and how much single rows differ.

    f(x) = (1/m) sum_k log(1 + exp(-v_k.x))     grad f(x) = -(1/m) sum_k q_k v_k
    q_k  = 1/(1 + exp(v_k.x))                   Hessian   =  (1/m) sum_k q_k (1 - q_k) v_k v_k'

Letters v `v` (m, d), rows times labels | x `x` (d,) | float64, `slope` in any | no rows: all is 0
Bounds for all x:
  curvature  q (1 - q) <= 1/4, so the Hessian's eigenvalues are at most maxeig(V'V)/(4 m)
  variance   of -q v over the rows: q_k = 1/2 + c_k with |c_k| <= 1/2, and the deviation of q v is
             at most that of v/2 plus the root mean square of c v (Minkowski): (s + r)^2/4 with
             s^2 the variance and r^2 the mean square of v
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from mpiddl.arrays import Array

__all__ = [
    "curvature_bound",
    "hessian",
    "refusals",
    "slope",
    "value",
    "variance",
    "variance_bound",
]


def refusals(slopes: Array) -> Array:
    """Return q = 1/(1 + exp(z)) for z = `slopes`, without overflow."""
    return 0.5 - 0.5 * np.tanh(0.5 * slopes)


def value(v: Array, x: Array) -> float:
    """Return f(x)."""
    return float(np.logaddexp(0.0, -(v @ x)).sum()) / max(len(v), 1)


def slope(v: Array, x: Array, scale: float, out: Array) -> None:
    """Write `scale` times the sum of the rows' gradients at x into `out` (d,), in its dtype."""
    pull = refusals(v @ x)
    pull *= -scale
    np.matmul(pull, v, out=out)


def hessian(v: Array, x: Array) -> Array:
    """Return the second derivatives of f at x, (d, d)."""
    q = refusals(v @ x)
    return (v.T * (q * (1.0 - q))) @ v / max(len(v), 1)


def variance(v: Array, x: Array) -> float:
    """Return the variance of -q_k v_k, k drawn evenly, total over coordinates."""
    return _around_mean(refusals(v @ x)[:, np.newaxis] * v)


def curvature_bound(v: Array) -> float:
    """Return the least number that the bound above gives for the Hessian's eigenvalues."""
    return float(np.linalg.norm(v, 2)) ** 2 / (4 * len(v)) if len(v) else 0.0


def variance_bound(v: Array) -> float:
    """Return a number that `variance` does not exceed at any x."""
    return (sqrt(_around_mean(v)) + sqrt(_mean_square(v))) ** 2 / 4


def _mean_square(rows: Array) -> float:
    return float(np.vdot(rows, rows)) / max(len(rows), 1)


def _around_mean(rows: Array) -> float:
    return _mean_square(rows - rows.sum(axis=0) / max(len(rows), 1))
