"""Exact second moments of linear recursions: bounds and rates without sampling noise.

On iso, spec and het the recursions of BSP, local SGD and gossip are linear, and W is symmetric.
Neither coordinates j nor eigenvectors u_k of W meet: with x_jk = u_k' x_j (x_j the coordinate j
of all workers) and W_t = W every H steps, else I,

    x_jk <- l_k ((1 - gam_t a_j) x_jk - gam_t s_jk - gam_t xi_jk),   l_k the eigenvalue of W_t,

so mean m and variance c follow, each a number:

    m <- l ((1 - gam a) m - gam s),     c <- l^2 ((1 - gam a)^2 c + gam^2 sigma2 / d)

or m <- (l - gam a) m - gam s, c <- (l - gam a)^2 c + gam^2 sigma2 / d if the exchange comes first
(where all workers draw the same noise, it is n times as large in u_0 and zero elsewhere). The mean
model is u_0 = (1, .., 1) / sqrt(n), l_0 = 1; the spread is all the other modes, so no digits are
lost in differences. Where a server takes in one gradient a step, `theory.delayed` has the moments,
on least squares `theory.sampled`, where workers send random entries `theory.compressed`, and along
a momentum `theory.momentum`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from theory import compressed, delayed, momentum
from theory.mixing import matrix
from theory.remembering import ORDERS
from theory.sampled import second_moments
from theory.statement import Measure
from theory.testbed import Floats, LeastSquares, Quadratic
from theory.trials import Trial
from theory.turns import TURNS, cycle

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
            "LAST_GAP": self.gap[1:],
            "GRADSQ": np.cumsum(self.gradsq[:-1]) / counts,
            "GAP": np.cumsum(self.gap[:-1]) / counts,
            "DIST": self.dist[1:],
        }
        return left[measure.quantity]


def linear(trial: Trial) -> bool:
    """Whether what the trial really runs has exact moments."""
    real = trial.real()
    if real.start == "apart" or real.order in ORDERS:
        return False
    w = cycle(real.topology, real.n)[0]
    plain = real.topology not in TURNS and not (real.after or real.late)
    plain = plain and (not real.mom or momentum.heavy(real))
    plain = plain and (real.compressor == "identity" or _masked(real))
    if isinstance(real.oracle(), LeastSquares):
        alike = real.H == 1 and real.topology == "complete" and real.staleness is None
        return plain and alike and real.noise == "own"
    return plain and isinstance(real.oracle(), Quadratic) and bool(np.all(w == w.T))


def moments(trial: Trial) -> Moments:
    """Return the exact moments of what the trial really runs.

    Raises
    ------
    ValueError
        If the recursion is not linear or W is not symmetric.
    """
    real = trial.real()
    oracle = real.oracle()
    if not linear(real):
        raise ValueError(f"no exact moments of {real}")
    if isinstance(oracle, LeastSquares):
        sampled = second_moments(oracle, real.steps(), real.n)
        return Moments(*sampled, spread=np.zeros_like(sampled.dist))
    assert isinstance(oracle, Quadratic)
    if real.staleness is not None:
        return _served(real, oracle)
    if _masked(real):
        squares = compressed.second_moments(real, oracle)
        return _of_one(squares, np.zeros(real.T + 1), oracle)
    if real.mom:
        return _of_one(*momentum.second_moments(real, oracle), oracle)
    return _mixed(real, oracle)


def _mixed(real: Trial, oracle: Quadratic) -> Moments:
    """Moments of steps and exchanges by W."""
    n, a, steps = real.n, oracle.a[:, None], real.steps()
    factors, basis = _modes(matrix(real.topology, n))
    noise = np.full(n, oracle.sigma2 / oracle.d)
    if real.noise == "shared":
        noise = noise * n * (np.arange(n) == 0)
    start, s = np.outer(oracle.x0, basis.sum(axis=0)), oracle.s.T @ basis
    squares = np.empty((real.T + 1, oracle.d, n))
    mean, variance = start, np.zeros_like(start)
    squares[0] = mean**2
    for t in range(real.T):
        mixed = factors if (t + 1) % real.H == 0 else np.ones(n)
        before, after = (mixed, 1.0) if real.order == "cta" else (1.0, mixed)
        shrink = before - steps[t] * a
        mean = after * (shrink * mean - steps[t] * s)
        variance = after**2 * (shrink**2 * variance + steps[t] ** 2 * noise)
        squares[t + 1] = mean**2 + variance
    average, spread = squares[:, :, 0] / n, squares[:, :, 1:].sum(axis=(1, 2)) / n
    return _of_one(average, spread, oracle)


def _served(real: Trial, oracle: Quadratic) -> Moments:
    """Moments of a server's model under the first seed's schedule; spread is E|x_t - y_t|^2."""
    plan = delayed.plans(replace(real, seeds=1))[0]
    squares, missed = delayed.second_moments(plan.read, real.steps(), oracle)
    return _of_one(squares, missed.sum(axis=1), oracle)


def _of_one(squares: Floats, spread: Floats, oracle: Quadratic) -> Moments:
    """Moments of one model from E x_t^2 by coordinate, (T + 1, d)."""
    gradsq, gap = squares @ oracle.a**2, squares @ oracle.a / 2
    return Moments(gradsq, gap, squares.sum(axis=1), spread)


def _masked(real: Trial) -> bool:
    """Whether workers send random entries and forget the others."""
    forgotten = not real.memory and not real.refers and real.noise == "own"
    return forgotten and real.compressor == "randk" and real.topology == "complete" and real.H == 1


def _modes(w: Floats) -> tuple[Floats, Floats]:
    """Return eigenvalues (n,) and eigenvectors (n, n) of W, (1, .., 1) / sqrt(n) first."""
    values, vectors = np.linalg.eigh(w + 1 / len(w))  # J lifts the constant mode from 1 to 2
    values, vectors = values[::-1], vectors[:, ::-1]
    factors = values - (np.arange(len(w)) == 0)
    return factors, vectors
