"""A mean of losses over the rows of a table, split over workers, plus a penalty.

    f(x)   = (1/m) sum_k l_k(x) + p(x)
    f_i(x) = n w_i (mean of l_k over shard i) + p(x) + <s_i, x>
    g_i(x) = (n w_i/b) sum_{b rows k} grad l_k(x) + grad p(x) + s_i

Which b rows worker i draws, and its share w_i: sampling.py. Shifts s_i: base.py. (1/n) sum f_i = f
in every case.

Letters row k `_rows[k]`, its label last | n w_i `_shards.weights[i]` | n w_i/b `Batch.scale`
Exact   over V_i, the rows of shard i, with what a subclass knows of its loss:
  L      = max_i n w_i `_curvature`(V_i) + the penalty's
  sigma2 = max_i (n w_i)^2/b `_variance_bound`(V_i), for all x; `noise2(x)` has the noise at a point
  zeta2  = the dial if all workers see all rows; else not known: `heterogeneity2(x)` at a point
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np

from mpiddl.arrays import Array
from mpiddl.layout import Layout
from mpiddl.problems import NEED, READY, Constants, Event
from mpiddl.problems.base import QUIET
from mpiddl.problems.penalty import Penalty
from mpiddl.problems.sampling import Batch, Sampled

__all__ = ["FiniteSum"]


class FiniteSum(Sampled):
    """The mean loss over rows, plus a penalty; a subclass says what the loss of some rows is.

    Parameters
    ----------
    name, workers, seed, layout, rows
        As in `Sampled`.
    penalty : Ridge or Valleys
        What is added.
    **options
        sharding, batch, sort, zeta2 and dtype, see `Sampled`.

    Raises
    ------
    ConfigurationError
        If an option is out of range or two do not fit; the message names them.
    """

    def __init__(
        self,
        name: str,
        workers: int,
        seed: int,
        layout: Layout,
        rows: Array,
        penalty: Penalty,
        **options: Any,
    ) -> None:
        super().__init__(name, workers, seed, layout, rows, **options)
        self._penalty = penalty

    # What a subclass knows; `v` (b, p) are some rows, perhaps none.

    def _value(self, v: Array, x: Array) -> float:
        """Return the mean loss, all float64; no rows: 0."""
        raise NotImplementedError

    def _slope(self, v: Array, x: Array, scale: float, out: Array) -> None:
        """Write `scale` times the sum of the rows' gradients at x (d,) into `out` (d,)."""
        raise NotImplementedError

    def _variance(self, v: Array, x: Array) -> float:
        """Return the variance of a row's gradient, drawn evenly, total over coordinates."""
        raise NotImplementedError

    def _curvature(self, v: Array) -> float | None:
        """Return a bound on the eigenvalues of the mean's Hessian at any x."""
        return None

    def _variance_bound(self, v: Array) -> float | None:
        """Return a bound on `_variance` at any x."""
        return None

    @property
    def _convexity(self) -> float | None:
        """Strong convexity mu of every f_i."""
        return None

    @property
    def optimum(self) -> Array | None:
        """The minimiser of f, or None."""
        return None

    # What follows.

    def start(self) -> Array:
        """Return x0 = 0 (d,)."""
        return np.zeros(self.layout.size, dtype=self.dtype)

    def gradient(self, x: Array, batch: Batch, out: Array) -> Iterator[tuple[Event, int]]:
        """Write g_i at `x` (d,) into `out` (d,), announcing layers as `Problem` says."""
        return self._announced(self._rows.take(batch.rows, axis=0), batch, x, out)

    def _announced(
        self, v: Array, batch: Batch, x: Array, out: Array
    ) -> Iterator[tuple[Event, int]]:
        """As `gradient`, with the rows `v` of `batch`; here one product gives all layers."""
        layers = range(len(self._spans))
        yield from ((NEED, layer) for layer in layers)
        self._differentiate(v, batch, x, out)
        yield from ((READY, layer) for layer in reversed(layers))

    @QUIET
    def _differentiate(self, v: Array, batch: Batch, x: Array, out: Array) -> None:
        self._slope(v, x, batch.scale, out)
        out += self._penalty.slope(x)
        out += batch.shift

    @QUIET
    def loss(self, x: Array) -> float:
        """Return f at `x` (d,); inf where |x|^2 overflows."""
        x = np.asarray(x, dtype=np.float64)
        square = float(x @ x)
        if not isfinite(square):
            return square
        return self._value(self._wide, x) + self._penalty.value(x)

    @QUIET
    def full_gradient(self, x: Array, worker: int | None = None) -> Array:
        """Return grad f(x), or grad f_i(x) of one worker, exactly; float64 (d,), a new array."""
        x, v = np.asarray(x, dtype=np.float64), self._wide
        batch = Batch(np.arange(len(v)), 1.0 / len(v))
        if worker is not None:
            batch = self._whole_shard(worker)
            v = v[batch.rows]
        out = np.empty(self.layout.size)
        for _ in self._announced(v, batch, x, out):
            pass
        return out

    @QUIET
    def noise2(self, x: Array, worker: int | None = None) -> float:
        """Return E|g_i(x) - grad f_i(x)|^2 of one worker, or the mean over workers, exactly."""
        x, total = np.asarray(x, dtype=np.float64), 0.0
        workers = self._shards.distinct if worker is None else (worker,)
        for weight, v in map(self._shard, workers):
            total += self._sampled(weight) * self._variance(v, x)
        return total / len(workers)

    def _largest(
        self, bound: Callable[[Array], float | None], factor: Callable[[float], float]
    ) -> float | None:
        """Return the largest factor(n w_i) bound(V_i), or None if one is not known."""
        largest = 0.0
        for weight, v in map(self._shard, self._shards.distinct):
            times = factor(weight)
            found = bound(v) if times else 0.0
            if found is None:
                return None
            largest = max(largest, times * found)
        return largest

    @cached_property
    def constants(self) -> Constants:
        """The constants of all f_i, computed when first asked for."""
        curvature = self._largest(self._curvature, float)
        L = None if curvature is None else curvature + self._penalty.L
        sigma2 = self._largest(self._variance_bound, self._sampled)
        zeta2 = self._zeta2 if self._shards.shared else None
        f_star = None if self.optimum is None else self.loss(self.optimum)
        return Constants(L, self._convexity, sigma2, zeta2, f_star)
