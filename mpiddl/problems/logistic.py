"""Logistic regression: two classes told apart by a weighted sum; with a quadratic penalty.

    f(x) = (1/m) sum_k log(1 + exp(-v_k.x)) + (lam/2) |x|^2      v_k = y_k (a_k, 1), y_k = +-1

a_k are standardised columns (divided by m), the 1 is the bias; both are penalised. How the rows are
drawn and split: finite_sum.py.

Letters v_k `_rows[k]` | lam `_penalty.lam`
Exact   with the bounds of logistic_loss.py over V_i, the rows of shard i:
  L      = max_i n w_i maxeig(V_i'V_i)/(4 m_i) + lam, for f_i; mu = lam
  sigma2 = max_i (n w_i)^2/b variance_bound(V_i), for all x
  f_star = f at the minimiser, by Newton's method
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np

from mpiddl.arrays import Array
from mpiddl.layout import Layout
from mpiddl.problems import logistic_loss
from mpiddl.problems.base import number
from mpiddl.problems.datasets import signed_rows
from mpiddl.problems.finite_sum import FiniteSum
from mpiddl.problems.minimum import newton
from mpiddl.problems.penalty import Penalty, Ridge

__all__ = ["Logistic", "LogisticRegression"]


class Logistic(FiniteSum):
    """The mean logistic loss with any penalty; `from_arrays` takes features and labels.

    Parameters
    ----------
    rows : float64 (m, d)
        The v_k: features with a last column of 1, times the label +-1.
    workers, seed : int
        Number n of workers; the one seed.
    penalty : Ridge or Valleys
        What is added to the mean loss.
    name : str
        What the problem is called in results.
    **options
        sharding, batch, sort, zeta2 and dtype, see `FiniteSum`.

    Raises
    ------
    ConfigurationError
        If an option is out of range or two do not fit; the message names them.
    """

    def __init__(
        self,
        rows: Array,
        workers: int,
        seed: int,
        *,
        penalty: Penalty,
        name: str = "logistic",
        **options: Any,
    ) -> None:
        layout = Layout(("weights", "bias"), ((rows.shape[1] - 1,), (1,)))
        super().__init__(name, workers, seed, layout, rows, penalty, **options)

    @classmethod
    def from_arrays(
        cls, features: Any, labels: Any, workers: int, seed: int, **options: Any
    ) -> Self:
        """Return the problem of users' own data, copied; the inputs are not touched.

        Parameters
        ----------
        features : array-like (m, p)
            Real floats or ints in any memory layout; standardised here.
        labels : array-like (m,)
            Two different real numbers; the larger becomes +1.

        Raises
        ------
        BufferMismatch, ConfigurationError
            As `signed_rows` does.
        """
        made = cls(signed_rows(features, labels), workers, seed, **options)
        given = {"features": np.array(features), "labels": np.array(labels)}
        made.options = options | given  # ranks must agree on them
        return made

    def _value(self, v: Array, x: Array) -> float:
        return logistic_loss.value(v, x)

    def _slope(self, v: Array, x: Array, scale: float, out: Array) -> None:
        logistic_loss.slope(v, x, scale, out)

    def _variance(self, v: Array, x: Array) -> float:
        return logistic_loss.variance(v, x)

    def _curvature(self, v: Array) -> float:
        return logistic_loss.curvature_bound(v)

    def _variance_bound(self, v: Array) -> float:
        return logistic_loss.variance_bound(v)

    def accuracy(self, x: Array) -> float:
        """Return the share of these rows whose label is the sign of (a_k, 1).x; 0 counts as -1."""
        y = self._wide[:, -1]
        products = y * (self._wide @ np.asarray(x, dtype=np.float64))
        return float(np.mean((products > 0) == (y > 0)))


class LogisticRegression(Logistic):
    """The mean logistic loss with a quadratic penalty.

    Parameters
    ----------
    rows, workers, seed, **options
        As in `Logistic`, without `penalty`.
    lam : float
        Weight of the penalty, above 0: without it separable data have no minimiser.
    """

    def __init__(
        self, rows: Array, workers: int, seed: int, *, lam: float = 1e-2, **options: Any
    ) -> None:
        self._lam = number("lam", lam, above=True)
        super().__init__(rows, workers, seed, penalty=Ridge(self._lam), **options)

    @property
    def _convexity(self) -> float:
        return self._lam

    @cached_property
    def optimum(self) -> Array:
        """The minimiser x* of f, float64 (d,), read only; computed when first asked for."""
        x, penalty = np.zeros(self.layout.size), self._lam * np.eye(self.layout.size)
        hessian = logistic_loss.hessian
        return newton(self.full_gradient, lambda x: hessian(self._wide, x) + penalty, x)
