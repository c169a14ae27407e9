"""The rows of a table that workers draw from: the noise of real data, and how workers differ.

    replicated   every worker draws from all m rows
    disjoint     each from its own shard; weights, uneven and empty shards: sharding.py

A gradient is the mean over b rows, drawn with replacement, times n w_i. Workers differ by their
shards, most of all where these are sorted by label, and by the shifts of the dial zeta2 (base.py).

Batches With shared rows, the mean of n gradients of b rows each is the gradient of one worker with
        those n b rows: the effective batch of a step is n b. With disjoint shards that holds for
        equal shards; a whole shard (`batch=None`) may be uneven, the mean is grad f all the same.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mpiddl.arrays import Array, Purpose, stream
from mpiddl.errors import ConfigurationError
from mpiddl.layout import Layout
from mpiddl.problems.base import Base, whole
from mpiddl.problems.sharding import disjoint, replicated

__all__ = ["Batch", "Sampled"]


class Batch(NamedTuple):
    """The rows of one stochastic gradient.

    Parameters
    ----------
    rows : int64 (b,)
        Numbers of the rows; empty if the worker has none.
    scale : float
        n w_i/b, what each of them counts for.
    shift : float
        What is added to every entry, s_i.
    """

    rows: Array
    scale: float
    shift: float = 0.0


class Sampled(Base):
    """Objectives over the rows of a table, split over workers.

    Parameters
    ----------
    name, workers, seed, layout, dtype, zeta2
        As in `Base`.
    rows : float64 (m, p)
        One sample a row, with its label, class or target in the last column.
    sharding : {"replicated", "disjoint"}
        Whether every worker draws from all rows or from its own.
    batch : int or None
        Rows per gradient, drawn with replacement; None: the worker's whole shard, no noise.
    sort : bool
        Cut disjoint shards from rows in the order of their labels.

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
        *,
        sharding: str = "replicated",
        batch: int | None = 16,
        sort: bool = False,
        zeta2: float = 0.0,
        dtype: Any = np.float64,
    ) -> None:
        super().__init__(name, workers, seed, layout, dtype, zeta2)
        self._rows = rows.astype(self.dtype, order="C", copy=False)
        self._batch = None if batch is None else whole("batch", batch, 1)
        if sharding == "disjoint":
            labels = rows[:, -1] if sort else None
            self._shards = disjoint(len(rows), workers, seed, labels)
        elif sharding == "replicated" and not sort:
            self._shards = replicated(len(rows), workers)
        else:
            raise ConfigurationError(
                f"sharding = {sharding!r}, sort = {sort!r}: must be 'replicated' or 'disjoint', "
                "and only disjoint shards can be sorted by label"
            )

    @cached_property
    def _wide(self) -> Array:
        """The rows in float64, for measurements."""
        return self._rows.astype(np.float64, copy=False)

    def _whole_shard(self, worker: int) -> Batch:
        rows = self._shards.rows[worker]
        scale = self._shards.weights[worker] / max(rows.size, 1)
        return Batch(rows, scale, float(self._shifts[worker]))

    def batch(self, worker: int, step: int) -> Batch:
        """Return the rows that `worker` draws at `step`."""
        rows, scale, shift = self._whole_shard(worker)
        if self._batch is None or not rows.size:
            return Batch(rows, scale, shift)
        samples = stream(self.seed, Purpose.SAMPLES, worker, step)
        drawn = rows[samples.integers(rows.size, size=self._batch)]
        return Batch(drawn, self._shards.weights[worker] / self._batch, shift)

    def _shard(self, worker: int) -> tuple[float, Array]:
        """Return n w_i and the rows of one worker, float64 (m_i, p)."""
        return self._shards.weights[worker], self._wide[self._shards.rows[worker]]

    def _sampled(self, weight: float) -> float:
        """Return (n w_i)^2/b, by which the variance over shard i counts; full shards: 0."""
        return 0.0 if self._batch is None else weight**2 / self._batch
