"""Least squares: noise that comes from the rows drawn, and grows with the distance from x*.

    f(x) = (1/m) sum_k (a_k.x - y_k)^2/2

`least_squares` makes its rows up: a_kj = sqrt(s_j) z_kj and y_k = a_k.1 + z_k with normal z, the
same for every seed, so A'A/m has about the spectrum s. diabetes.py has real ones. How the rows are
drawn and split: finite_sum.py. Theorems: bsp-sc-sampling with batch = 1, Lmax = `sample_smoothness`
and sigma*^2 = noise2(x*).

Letters row k of `_rows` is (a_k, y_k), k-th row of A (m, d) | over A_i, the rows of shard i:
Exact   L = max_i n w_i maxeig(A_i'A_i/m_i), mu = min_i the same with mineig; 0 where rounding hides
        it, or where a worker has no rows
        optimum and f_star by linear algebra; of several minimisers none
Unknown sigma2: the noise has no bound; `noise2(x)` has it at a point
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from mpiddl.arrays import Array, Purpose, stream
from mpiddl.layout import Layout
from mpiddl.problems import problems
from mpiddl.problems.base import whole
from mpiddl.problems.finite_sum import FiniteSum
from mpiddl.problems.penalty import Ridge
from mpiddl.problems.quadratic import SPECTRUM, spectrum_of

__all__ = ["LeastSquares", "least_squares"]


class LeastSquares(FiniteSum):
    """Half the mean square of residuals.

    Parameters
    ----------
    name, workers, seed
        As in `Base`.
    rows : float64 (m, d + 1)
        The a_k with y_k in the last column.
    **options
        sharding, batch, sort, zeta2 and dtype, see `Sampled`.

    Raises
    ------
    ConfigurationError
        If an option is out of range or two do not fit; the message names them.
    """

    def __init__(self, name: str, workers: int, seed: int, rows: Array, **options: Any) -> None:
        layout = Layout(("weights",), ((rows.shape[1] - 1,),))
        super().__init__(name, workers, seed, layout, rows, Ridge(0.0), **options)

    def _residuals(self, v: Array, x: Array) -> Array:
        return v[:, :-1] @ x - v[:, -1]

    def _value(self, v: Array, x: Array) -> float:
        residuals = self._residuals(v, x)
        return 0.5 * float(residuals @ residuals) / max(len(v), 1)

    def _slope(self, v: Array, x: Array, scale: float, out: Array) -> None:
        residuals = self._residuals(v, x)
        residuals *= scale
        np.matmul(residuals, v[:, :-1], out=out)

    def _variance(self, v: Array, x: Array) -> float:
        slopes = self._residuals(v, x)[:, np.newaxis] * v[:, :-1]
        slopes -= slopes.sum(axis=0) / max(len(v), 1)
        return float(np.vdot(slopes, slopes)) / max(len(v), 1)

    def _spectrum(self, v: Array) -> Array:
        """Return the eigenvalues of A'A/m for some rows, smallest first, (d,)."""
        return np.linalg.eigvalsh(v[:, :-1].T @ v[:, :-1]) / max(len(v), 1)

    def _curvature(self, v: Array) -> float:
        return float(self._spectrum(v)[-1])

    @cached_property
    def _convexity(self) -> float:
        least = np.inf
        for weight, v in map(self._shard, self._shards.distinct):
            spectrum = self._spectrum(v)
            visible = spectrum[0] > 1e-12 * spectrum[-1]
            least = min(least, weight * float(spectrum[0]) if visible else 0.0)
        return least

    @property
    def sample_smoothness(self) -> float:
        """Lmax = max_k |a_k|^2, smoothness of the loss of every single row."""
        return float(np.max(np.sum(self._wide[:, :-1] ** 2, axis=1)))

    @cached_property
    def optimum(self) -> Array | None:
        """The minimiser x* of f, float64 (d,), read only; None if it is not the only one."""
        a, y = self._wide[:, :-1], self._wide[:, -1]
        x, _, rank, _ = np.linalg.lstsq(a, y)
        x.flags.writeable = False
        return x if rank == len(x) else None


@problems.register("least_squares")
def least_squares(
    workers: int, seed: int, *, samples: int = 200, spectrum: Any = SPECTRUM, **options: Any
) -> LeastSquares:
    """Least squares on made-up rows: the noise of sampling, which grows with the distance.

    `samples` rows whose A'A/m has about the `spectrum`; `options` as in `LeastSquares`.
    """
    s = np.array(spectrum_of(spectrum))
    draws = stream(0, Purpose.PROBLEM).standard_normal((whole("samples", samples, 1), len(s) + 1))
    draws[:, :-1] *= np.sqrt(s)
    draws[:, -1] += draws[:, :-1].sum(axis=1)
    return LeastSquares("least_squares", workers, seed, draws, **options)
