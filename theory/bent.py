"""Local SGD on parabolas that bend differently, exactly: the mean model misses the minimum.

    f_i(x) = (1 + bend c_i)/2 |x|^2 + <s_i, x>,  s_i = sqrt(zeta2) c_i u as in `testbed.shifts`

The c_i add up to 0, so f = |x|^2 / 2. Within a round, with q_i = 1 - gam (1 + bend c_i) and all
workers together at its start, along u and in the mean, and for the variance over all coordinates,

    m_k = mean_i (q_i^k m_0 - gam sqrt(zeta2) c_i S_k),  S_k = sum_{l<k} q_i^l
    V_k = (mean_i q_i^k)^2 V_0 + (gam^2 sigma2 / n^2) sum_i sum_{l<k} q_i^(2l)

On functions with one Hessian local steps leave the mean model what it is (`theory.moments`); here
they do not, by about gam (H - 1) bend sqrt(zeta2) / 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from theory.testbed import Floats, shifts

__all__ = ["Bent"]


@dataclass(frozen=True)
class Bent:
    """n workers whose functions bend as 1 + bend c_i, |c_i| <= sqrt(2).

    Parameters
    ----------
    n : int
        Workers, at least 2.
    bend, zeta2, sigma2 : float
        How differently functions bend, gradients at the minimum, and noise; bend < 1 / sqrt(2).
    """

    n: int
    bend: float
    zeta2: float
    sigma2: float

    @property
    def c(self) -> Floats:
        """The c_i (n,), with mean 0 and mean square 1."""
        return shifts(self.n, 1, 1.0)[:, 0]

    @property
    def L(self) -> float:
        """The smoothness of all f_i."""
        return float(1 + self.bend * self.c.max())

    def moments(self, H: int, T: int, gam: float) -> tuple[Floats, Floats]:
        """Return mean along u and variance of the mean model at t = 0 .. T, from the minimum.

        Parameters
        ----------
        H, T : int
            Steps of a round, and of all rounds: a multiple of H.
        gam : float
            The step size.

        Returns
        -------
        mean, variance : float64 (T + 1,)
            E|xbar_t|^2 is mean^2 + variance.
        """
        steps, c = np.arange(H + 1), self.c
        powers = (1 - gam * (1 + self.bend * c)) ** steps[:, None]
        kept = powers.mean(axis=1)
        drive = -gam * sqrt(self.zeta2) * (_before(powers) @ c) / self.n
        noise = gam**2 * self.sigma2 / self.n**2 * _before(powers**2).sum(axis=1)
        mean, variance = np.zeros(T + 1), np.zeros(T + 1)
        for start in range(0, T, H):
            round_ = slice(start, start + H + 1)
            mean[round_] = kept * mean[start] + drive
            variance[round_] = kept**2 * variance[start] + noise
        return mean, variance

    def disagreement(self, mean: Floats, variance: Floats) -> float:
        """Return the largest E (1/n) sum |grad f_i - grad f|^2 at mean models of these moments."""
        apart = (self.bend * mean + sqrt(self.zeta2)) ** 2 + self.bend**2 * variance
        return float(apart.max())


def _before(powers: Floats) -> Floats:
    """Return the sums of the rows (H + 1, n) before each row."""
    sums: Floats = np.cumsum(powers, axis=0) - powers
    return sums
