"""Real images: which digit was written, told from 8 x 8 pixels by softmax regression.

    f(x) = (1/m) sum_k (log sum_c exp(z_c) - z_y) + (lam/2) |x|^2      z = (a_k, 1) X, X (65, 10)

d = 650. Of the 1797 images, 1437 are learnt from and 360 held out: the first and the last of one
fixed permutation, the same for every seed. a_k are pixels less the mean image, divided by one
number so that their mean square is 1; both are those of the images learnt from. The set is
E. Alpaydin, C. Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning
Repository, 1998; data/LICENSE-data.md has its source and licence.

Letters A (m, 65) rows (a_k, 1) | P (m, 10) softmax(z) | lam `_lam`
Exact   over A_i, the rows of shard i (the Hessian in z is at most 1/2: Bohning 1992):
  L      = max_i n w_i maxeig(A_i'A_i)/(2 m_i) + lam; mu = lam
  sigma2 = max_i (n w_i)^2/b 2 (mean |(a_k, 1)|^2), for all x: |softmax - onehot|^2 <= 2
  f_star = f at the minimiser, by Newton's method
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any

import numpy as np

from mpiddl.arrays import Array, Purpose, stream
from mpiddl.problems import problems
from mpiddl.problems.base import number
from mpiddl.problems.datasets import load
from mpiddl.problems.minimum import newton
from mpiddl.problems.network import Network, softmax

__all__ = ["Softmax", "digits_rows"]

CLASSES, LEARNT = 10, 1437


@cache
def digits_rows() -> tuple[Array, Array]:
    """Return rows to learn from (1437, 65) and held-out ones (360, 65), float64, digit last.

    All problems of a process share them, so they are not to be written.
    """
    features, digits = load("digits")
    rows = np.column_stack((features, digits)).astype(np.float64)
    rows = rows[stream(0, Purpose.PROBLEM).permutation(len(rows))]
    learnt = rows[:LEARNT, :-1]
    rows[:, :-1] -= learnt.mean(axis=0)
    rows[:, :-1] /= np.sqrt(np.mean(learnt * learnt))
    rows.flags.writeable = False
    return rows[:LEARNT], rows[LEARNT:]


@problems.register("digits")
class Softmax(Network):
    """Softmax regression on 1437 real images of digits: strongly convex, tested on 360 others.

    Parameters
    ----------
    workers, seed : int
        Number n of workers; the one seed.
    lam : float
        Weight of the penalty, above 0: without it f has no only minimiser.
    **options
        sharding, batch (16 by default), sort, zeta2 and dtype, see `Sampled`.

    Raises
    ------
    ConfigurationError
        If an option is out of range or two do not fit; the message names them.
    """

    def __init__(self, workers: int, seed: int, *, lam: float = 1e-2, **options: Any) -> None:
        self._lam = number("lam", lam, above=True)
        rows, held_out = digits_rows()
        widths = (rows.shape[1] - 1, CLASSES)
        super().__init__("digits", workers, seed, rows, held_out, widths, self._lam, **options)

    def _design(self, v: Array) -> Array:
        """Return the rows (a_k, 1), (m, 65)."""
        return np.column_stack((v[:, :-1], np.ones(len(v))))

    def _curvature(self, v: Array) -> float:
        a = self._design(v)
        return float(np.linalg.eigvalsh(a.T @ a)[-1]) / (2 * max(len(v), 1))

    def _variance_bound(self, v: Array) -> float:
        a = self._design(v)
        return 2.0 * float(np.vdot(a, a)) / max(len(v), 1)

    @property
    def _convexity(self) -> float:
        return self._lam

    def _hessian(self, x: Array) -> Array:
        """Return the second derivatives of f at x, (650, 650)."""
        a, p = self._design(self._wide), softmax(self._outputs(self._wide, x))
        both = (a[:, :, np.newaxis] * p[:, np.newaxis, :]).reshape(len(a), -1)
        hessian: Array = both.T @ both / -len(a)
        for c in range(CLASSES):
            hessian[c::CLASSES, c::CLASSES] += (a.T * p[:, c]) @ a / len(a)
        hessian.flat[:: x.size + 1] += self._lam
        return hessian

    @cached_property
    def optimum(self) -> Array:
        """The minimiser x* of f, float64 (d,), read only; computed when first asked for (0.3 s)."""
        return newton(self.full_gradient, self._hessian, np.zeros(self.layout.size))
