"""Logistic regression with a quadratic penalty, on real data that may be split over workers.

    f(x)   = (1/m) sum_k log(1 + exp(-v_k.x)) + (lam/2) |x|^2      v_k = y_k (a_k, 1), y_k = +-1
    f_i(x) = n w_i (mean of the same over shard i) + (lam/2) |x|^2
    g_i(x) = -(n w_i/b) sum_{b rows k} q_k v_k + lam x             q_k = 1/(1 + exp(v_k.x))

a_k are standardised columns (divided by m), the 1 is the bias; both are penalised. The b rows are
drawn with replacement from worker i's shard; weights and shards: sharding.py.

Letters v_k `_rows[k]` | n w_i `_shards.weights[i]` | n w_i/b `Batch.scale` | lam `_lam`
Exact   with the bounds of logistic_loss.py over V_i, the rows of shard i:
  L      = max_i n w_i maxeig(V_i'V_i)/(4 m_i) + lam, for f_i; mu = lam
  sigma2 = max_i (n w_i)^2/b variance_bound(V_i), for all x; `noise2(x)` has the noise at a point
  zeta2  = 0 if all workers see all rows; else not known, `heterogeneity2(x)` has it at a point
  f_star = f at the minimiser, by Newton's method
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mpiddl.arrays import Array, Purpose, stream
from mpiddl.errors import ConfigurationError
from mpiddl.layout import Layout
from mpiddl.problems import NEED, READY, Constants, Event, logistic_loss
from mpiddl.problems.base import QUIET, Base, number, whole
from mpiddl.problems.datasets import signed_rows
from mpiddl.problems.minimum import newton
from mpiddl.problems.sharding import disjoint, replicated

__all__ = ["Batch", "LogisticRegression"]


class Batch(NamedTuple):
    """The rows of one stochastic gradient.

    Parameters
    ----------
    rows : int64 (b,)
        Numbers of the rows; empty if the worker has none.
    scale : float
        n w_i/b, what each of them counts for.
    """

    rows: Array
    scale: float


class LogisticRegression(Base):
    """Regularised logistic regression; `from_arrays` takes features and labels.

    Parameters
    ----------
    rows : float64 (m, d)
        The v_k: features with a last column of 1, times the label +-1.
    workers, seed : int
        Number n of workers; the one seed.
    lam : float
        Weight of the penalty, above 0: without it separable data have no minimiser.
    sharding : {"replicated", "disjoint"}
        Whether every worker draws from all rows or from its own.
    batch : int or None
        Rows per gradient, drawn with replacement; None: the worker's whole shard, no noise.
    sort : bool
        Cut disjoint shards from rows in the order of their labels.
    dtype : dtype-like
        float32 or float64.
    name : str
        What the problem is called in results.

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
        lam: float = 1e-2,
        sharding: str = "replicated",
        batch: int | None = 16,
        sort: bool = False,
        dtype: Any = np.float64,
        name: str = "logistic",
    ) -> None:
        samples, d = rows.shape
        layout = Layout(("weights", "bias"), ((d - 1,), (1,)))
        super().__init__(name, workers, seed, layout, dtype)
        self._rows = rows.astype(self.dtype, order="C")
        self._lam = number("lam", lam, above=True)
        self._batch = None if batch is None else whole("batch", batch, 1)
        if sharding == "disjoint":
            labels = rows[:, -1] if sort else None
            self._shards = disjoint(samples, workers, seed, labels)
        elif sharding == "replicated" and not sort:
            self._shards = replicated(samples, workers)
        else:
            raise ConfigurationError(
                f"sharding = {sharding!r}, sort = {sort!r}: must be 'replicated' or 'disjoint', "
                "and only disjoint shards can be sorted by label"
            )

    @classmethod
    def from_arrays(
        cls, features: Any, labels: Any, workers: int, seed: int, **options: Any
    ) -> LogisticRegression:
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
        return cls(signed_rows(features, labels), workers, seed, **options)

    def start(self) -> Array:
        """Return x0 = 0 (d,)."""
        return np.zeros(self.layout.size, dtype=self.dtype)

    def batch(self, worker: int, step: int) -> Batch:
        """Return the rows that `worker` draws at `step`."""
        rows = self._shards.rows[worker]
        if self._batch is not None and rows.size:
            samples = stream(self.seed, Purpose.SAMPLES, worker, step)
            rows = rows[samples.integers(rows.size, size=self._batch)]
        return Batch(rows, self._shards.weights[worker] / max(rows.size, 1))

    def gradient(self, x: Array, batch: Batch, out: Array) -> Iterator[tuple[Event, int]]:
        """Write g_i at `x` (d,) into `out` (d,): one product gives both layers."""
        yield NEED, 0
        yield NEED, 1
        self._differentiate(x, batch, out)
        yield READY, 1
        yield READY, 0

    @QUIET
    def _differentiate(self, x: Array, batch: Batch, out: Array) -> None:
        v = self._rows.take(batch.rows, axis=0)
        pull = logistic_loss.refusals(v @ x)
        pull *= -batch.scale
        np.matmul(pull, v, out=out)
        out += self._lam * x

    @cached_property
    def _wide(self) -> Array:
        """The rows in float64, for measurements."""
        return self._rows.astype(np.float64, copy=False)

    def _shard(self, worker: int) -> tuple[float, Array]:
        """Return n w_i and the rows of one worker, float64 (m_i, d)."""
        return self._shards.weights[worker], self._wide[self._shards.rows[worker]]

    @QUIET
    def loss(self, x: Array) -> float:
        """Return f at `x` (d,); inf where |x|^2 overflows."""
        x = np.asarray(x, dtype=np.float64)
        penalty = 0.5 * self._lam * float(x @ x)
        return penalty + (logistic_loss.value(self._wide, x) if np.isfinite(penalty) else 0.0)

    def accuracy(self, x: Array) -> float:
        """Return the share of rows whose label is the sign of (a_k, 1).x; 0 counts as -1."""
        y = self._wide[:, -1]
        products = y * (self._wide @ np.asarray(x, dtype=np.float64))
        return float(np.mean((products > 0) == (y > 0)))

    @QUIET
    def full_gradient(self, x: Array, worker: int | None = None) -> Array:
        """Return grad f(x), or grad f_i(x) of one worker, exactly; float64 (d,), a new array."""
        x = np.asarray(x, dtype=np.float64)
        weight, v = (1.0, self._wide) if worker is None else self._shard(worker)
        return weight * logistic_loss.gradient(v, x) + self._lam * x

    def _sampled(self, weight: float) -> float:
        """Return (n w_i)^2/b, by which the variance over shard i counts; full shards: 0."""
        return 0.0 if self._batch is None else weight**2 / self._batch

    @QUIET
    def noise2(self, x: Array, worker: int | None = None) -> float:
        """Return E|g_i(x) - grad f_i(x)|^2 of one worker, or the mean over workers, exactly."""
        x, total = np.asarray(x, dtype=np.float64), 0.0
        workers = self._shards.distinct if worker is None else (worker,)
        for weight, v in map(self._shard, workers):
            total += self._sampled(weight) * logistic_loss.variance(v, x)
        return total / len(workers)

    @cached_property
    def constants(self) -> Constants:
        """The constants of all f_i, computed when first asked for (milliseconds)."""
        curvature, sigma2 = 0.0, 0.0
        for weight, v in map(self._shard, self._shards.distinct):
            curvature = max(curvature, weight * logistic_loss.curvature_bound(v))
            sigma2 = max(sigma2, self._sampled(weight) * logistic_loss.variance_bound(v))
        zeta2 = 0.0 if self._shards.shared else None
        return Constants(curvature + self._lam, self._lam, sigma2, zeta2, self.loss(self.optimum))

    @cached_property
    def optimum(self) -> Array:
        """The minimiser x* of f, float64 (d,), read only; computed when first asked for."""
        x, penalty = np.zeros(self.layout.size), self._lam * np.eye(self.layout.size)
        hessian = logistic_loss.hessian
        return newton(self.full_gradient, lambda x: hessian(self._wide, x) + penalty, x)
