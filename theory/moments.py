"""Exact second moments of linear recursions: bounds and rates without sampling noise.

On iso, spec and het the recursions of BSP, local SGD and gossip are linear, and W is symmetric.
Neither coordinates j nor eigenvectors u_k of W meet: with x_jk = u_k' x_j (x_j the coordinate j
of all workers) and W_t = W every H steps, else I,

    x_jk <- l_k ((1 - gam_t a_j) x_jk - gam_t s_jk - gam_t xi_jk),   l_k the eigenvalue of W_t,

so mean m and variance c follow, each a number:

    m <- l ((1 - gam a) m - gam s),     c <- l^2 ((1 - gam a)^2 c + gam^2 sigma2 / d)

(where all workers draw the same noise, it is n times as large in u_0 and zero elsewhere). The mean
model is u_0 = (1, .., 1) / sqrt(n), l_0 = 1; the spread is all the other modes, so no digits are
lost in differences.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theory.mixing import matrix
from theory.statement import Measure
from theory.testbed import Floats, Quadratic
from theory.trials import Trial

__all__ = ["Moments", "linear", "moments"]


@dataclass(frozen=True)
class Moments:
    """Expectations at t = 0 .. T, (T + 1,) each, with xbar the mean model.

    Parameters
    ----------
    gradsq : E |grad f(xbar)|^2; also E |m|^2, since all f_i have one Hessian.
    gap : E f(xbar) - f*.
    dist : E |xbar - x*|^2.
    spread : (1/n) sum E |x_i - xbar|^2.
    """

    gradsq: Floats
    gap: Floats
    dist: Floats
    spread: Floats

    def left(self, measure: Measure) -> Floats:
        """Return the left side of a bound at T = 1, 2, .., (T,).

        Raises
        ------
        KeyError
            If the measure has no exact moments here.
        """
        counts = np.arange(1, self.dist.size)
        left: dict[str, Floats] = {
            "GRADSQ": np.cumsum(self.gradsq[:-1]) / counts,
            "GAP": np.cumsum(self.gap[:-1]) / counts,
            "DIST": self.dist[1:],
        }
        return left[measure.quantity]


def linear(trial: Trial) -> bool:
    """Whether what the trial really runs has exact moments."""
    real = trial.real()
    w = matrix(real.topology, real.n)
    common = real.compressor == "identity" and real.start == "common"
    return common and isinstance(real.oracle(), Quadratic) and bool(np.all(w == w.T))


def moments(trial: Trial) -> Moments:
    """Return the exact moments of what the trial really runs.

    Raises
    ------
    ValueError
        If the recursion is not linear or W is not symmetric.
    """
    real = trial.real()
    oracle, w = real.oracle(), matrix(real.topology, real.n)
    if not linear(real) or not isinstance(oracle, Quadratic):
        raise ValueError(f"no exact moments of {real}")
    n, a, steps = real.n, oracle.a[:, None], real.steps()
    factors, basis = _modes(w)
    noise = np.full(n, oracle.sigma2 / oracle.d)
    if real.noise == "shared":
        noise = noise * n * (np.arange(n) == 0)
    start, s = np.outer(oracle.x0, basis.sum(axis=0)), oracle.s.T @ basis
    squares = np.empty((real.T + 1, oracle.d, n))
    mean, variance = start, np.zeros_like(start)
    squares[0] = mean**2
    for t in range(real.T):
        shrink = 1 - steps[t] * a
        mean = shrink * mean - steps[t] * s
        variance = shrink**2 * variance + steps[t] ** 2 * noise
        if (t + 1) % real.H == 0:
            mean, variance = factors * mean, factors**2 * variance
        squares[t + 1] = mean**2 + variance
    average, spread = squares[:, :, 0] / n, squares[:, :, 1:].sum(axis=(1, 2)) / n
    curvatures = oracle.a
    return Moments(average @ curvatures**2, average @ curvatures / 2, average.sum(axis=1), spread)


def _modes(w: Floats) -> tuple[Floats, Floats]:
    """Return eigenvalues (n,) and eigenvectors (n, n) of W, (1, .., 1) / sqrt(n) first."""
    values, vectors = np.linalg.eigh(w + 1 / len(w))  # J lifts the constant mode from 1 to 2
    values, vectors = values[::-1], vectors[:, ::-1]
    factors = values - (np.arange(len(w)) == 0)
    return factors, vectors
