"""The minimiser of a smooth, strongly convex function to rounding: Newton's method.

    solve H(x) p = grad f(x);   x <- x - t p,   t = 1, halved until |grad f| falls by t/4 of itself

Along -p the norm |grad f| falls at rate 1, so a small enough t always will do; when none does,
rounding is all that is left of the gradient.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mpiddl.arrays import Array

__all__ = ["newton"]


def newton(
    gradient: Callable[[Array], Array], hessian: Callable[[Array], Array], x: Array
) -> Array:
    """Return the minimiser.

    Parameters
    ----------
    gradient : callable
        (d,) -> (d,) float64.
    hessian : callable
        (d,) -> (d, d) float64, positive definite.
    x : float64 (d,)
        Where to begin; not changed.

    Returns
    -------
    float64 (d,)
        A new array, read only.
    """
    slope, t = gradient(x), 1.0
    while t > 1e-4 and slope.any():
        if t == 1.0:  # x is new
            step = np.linalg.solve(hessian(x), slope)
        trial = x - t * step
        ahead = gradient(trial)
        if np.linalg.norm(ahead) <= (1.0 - t / 4.0) * np.linalg.norm(slope):
            x, slope, t = trial, ahead, 1.0
        else:
            t /= 2.0
    x = x.copy()
    x.flags.writeable = False
    return x
