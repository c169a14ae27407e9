"""Curves: local snapshots during a run, evaluated together afterwards.

Taking a snapshot copies x and reads two counters; nothing is sent, so measuring never
synchronises a run. The evaluation after the last clock uses uncounted messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from mpiddl.arrays import Array, on_host
from mpiddl.comm import Communicator
from mpiddl.comm.collectives import naive
from mpiddl.comm.engine import Task
from mpiddl.problems import Problem

__all__ = ["COLUMNS", "Curve", "Recorder"]

COLUMNS = (
    "clock",  # agreements so far
    "step",  # gradients per worker so far
    "seconds",  # on rank 0, wall or virtual
    "bytes",  # sent so far by all ranks together
    "messages",  # the same
    "loss",  # f at the mean of the models
    "grad_norm2",  # |grad f|^2 there
    "consensus2",  # mean over workers of |x_i - mean|^2
    "distance2",  # |mean - x*|^2, NaN where x* is unknown
)


@dataclass(frozen=True)
class Curve:
    """What a run looked like from afar: one row per snapshot, one column per name in COLUMNS."""

    rows: tuple[tuple[float, ...], ...]

    def __getitem__(self, column: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        if column not in COLUMNS:
            raise KeyError(f"no column {column!r}; there are: {', '.join(COLUMNS)}")
        index = COLUMNS.index(column)
        return np.array([row[index] for row in self.rows], dtype=np.float64)

    def as_dict(self) -> dict[str, list[float | None]]:
        """Return the columns as lists, None in place of numbers that are not finite."""
        return {
            name: [value if isfinite(value) else None for value in column]
            for name, column in zip(COLUMNS, zip(*self.rows, strict=True), strict=True)
        }


class Recorder:
    """Snapshots of one rank.

    Parameters
    ----------
    every : int
        A snapshot at each clock that `every` divides, and after the last one.
    clocks : int
        Number of clocks of the run.
    """

    def __init__(self, every: int, clocks: int) -> None:
        self.every, self.clocks = every, clocks
        self._models: list[Array] = []
        self._marks: list[tuple[int, float, int, int]] = []

    def due(self, clock: int) -> bool:
        """Whether a snapshot belongs at the start of `clock`."""
        return clock % self.every == 0 or clock == self.clocks

    def take(self, clock: int, x: Array, comm: Communicator) -> None:
        """Keep a copy of `x` (d,) and this rank's counters."""
        sent = comm.traffic.sent
        self._models.append(x.copy())
        self._marks.append((clock, comm.now(), sent.bytes, sent.messages))

    def evaluate(self, problem: Problem, comm: Communicator, period: int) -> Task[Curve | None]:
        """Evaluate all snapshots of all ranks; return the curve on rank 0, None elsewhere.

        Parameters
        ----------
        problem : Problem
            Gives loss and gradient.
        comm : Communicator
            Uncounted; sums are made in rank order, so they are the same in every world.
        period : int
            Steps per clock.
        """
        models = np.stack([on_host(model) for model in self._models]).astype(np.float64)
        mean = models.reshape(-1).copy()
        yield from naive.allreduce(comm, mean)
        mean = mean.reshape(models.shape) / comm.size
        sums = np.empty((3, len(models)))
        sums[0] = ((models - mean) ** 2).sum(axis=1)
        sums[1:] = np.array([mark[2:] for mark in self._marks], dtype=np.float64).T
        sums[1:] -= sums[1:, :1]  # a communicator may have served runs before this one
        flat = sums.reshape(-1)
        yield from naive.allreduce(comm, flat)
        if comm.rank != 0:
            return None
        consensus2, nbytes, messages = flat.reshape(3, -1)
        rows = []
        for i, (clock, now, _, _) in enumerate(self._marks):
            seconds = now - self._marks[0][1]
            gradient = problem.full_gradient(mean[i])
            away = np.nan if problem.optimum is None else mean[i] - problem.optimum
            rows.append(
                (clock, clock * period, seconds, nbytes[i], messages[i], problem.loss(mean[i]))
                + (float(gradient @ gradient), consensus2[i] / comm.size, float(np.dot(away, away)))
            )
        return Curve(tuple(tuple(float(value) for value in row) for row in rows))
