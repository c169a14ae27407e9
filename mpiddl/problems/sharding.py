"""Which rows of a data set each worker draws from, and what its objective then counts.

    replicated   every worker sees all m rows: f_i = f
    disjoint     a seeded permutation, the same on every rank, cut into n runs of rows whose
                 lengths m_i differ by one at most

Uneven shards: f_i := n w_i (mean loss over shard i) + penalty, with w_i = m_i/m. Then
(1/n) sum f_i = f exactly, so that averages with equal weights, gossip's too, aim at f. A shard may
be empty (n > m): what is left of its f_i is the penalty.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpiddl.arrays import Array, Purpose, stream
from mpiddl.problems.base import whole

__all__ = ["Shards", "disjoint", "replicated"]


@dataclass(frozen=True)
class Shards:
    """The rows of every worker.

    Parameters
    ----------
    rows : tuple of int64 (m_i,)
        Row numbers, one array per worker.
    weights : tuple of float
        n w_i, by which the mean loss over shard i enters f_i; they add up to n.
    shared : bool
        Whether all workers have the same rows, hence the same objective.
    """

    rows: tuple[Array, ...]
    weights: tuple[float, ...]
    shared: bool

    @property
    def distinct(self) -> range:
        """Workers that stand for all: one if the rows are shared, else everyone."""
        return range(1 if self.shared else len(self.rows))


def replicated(samples: int, workers: int) -> Shards:
    """Return all `samples` rows for each of `workers`; ConfigurationError below 1."""
    rows = np.arange(whole("samples", samples, 1))
    workers = whole("workers", workers, 1)
    return Shards((rows,) * workers, (1.0,) * workers, shared=True)


def disjoint(samples: int, workers: int, seed: int, labels: Array | None = None) -> Shards:
    """Return shards that cover the rows once.

    Parameters
    ----------
    samples, workers : int
        Number m of rows and n of shards, each at least 1; the first m mod n shards are longer.
    seed : int
        The one seed of the run.
    labels : (m,) or None
        If given, rows are put in the order of their labels before the cut: the workers then
        differ as much as labels can make them. Rows of one label stay shuffled.

    Raises
    ------
    ConfigurationError
        If `samples` or `workers` is below 1.
    """
    samples, workers = whole("samples", samples, 1), whole("workers", workers, 1)
    order = stream(seed, Purpose.SHARDS).permutation(samples)
    if labels is not None:
        order = order[np.argsort(labels[order], kind="stable")]
    rows = tuple(np.array_split(order, workers))
    return Shards(rows, tuple(workers * len(mine) / samples for mine in rows), shared=workers == 1)
