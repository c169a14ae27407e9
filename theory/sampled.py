"""Exact second moments of SGD on least squares, where the noise depends on the model.

z = x - x*, row a and residual r of one sample: its gradient is a (a.z - r). With M = E z z',
m = E z, A = (1/m) sum a a', and n rows drawn independently,

    M' = M - gam (A M + M A) + gam^2 ((1/n) C + (1 - 1/n) A M A),    m' = m - gam A m,
    C = mean of a a' (a'M a - 2 r a.m + r^2) over the samples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from theory.testbed import Floats, LeastSquares

__all__ = ["Sampled", "second_moments"]


class Sampled(NamedTuple):
    """E |grad f(x)|^2, E f(x) - f* and E |x - x*|^2 at t = 0 .. T, (T + 1,) each."""

    gradsq: Floats
    gap: Floats
    dist: Floats


def second_moments(oracle: LeastSquares, steps: Floats, workers: int) -> Sampled:
    """Return what happens under the step sizes (T,) when `workers` rows are drawn a step."""
    a, r, A = oracle.a, oracle.residuals, oracle.hessian
    m = oracle.x0 - oracle.optimum
    M = np.outer(m, m)
    found = np.empty((3, len(steps) + 1))
    for t, gam in enumerate((*steps, 0.0)):
        AM = A @ M
        found[:, t] = np.trace(AM @ A), np.trace(AM) / 2, np.trace(M)
        weights = ((a @ M) * a).sum(axis=1) - 2 * r * (a @ m) + r**2
        C = (a * weights[:, None]).T @ a / len(a)
        M = M - gam * (AM + AM.T) + gam**2 * (C / workers + (1 - 1 / workers) * (AM @ A))
        m = m - gam * (A @ m)
    return Sampled(*found)
