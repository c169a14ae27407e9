"""A curve: what a run looked like from afar."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, nan
from typing import Any

import numpy as np

from mpiddl.arrays import Array
from mpiddl.problems import Problem

__all__ = ["COLUMNS", "Curve", "measure"]

COLUMNS = (
    "clock",  # agreements so far
    "step",  # gradients per worker so far
    "seconds",  # wall or virtual: on rank 0, until the last server had its piece, or that moment
    "bytes",  # sent so far by all ranks together
    "messages",  # the same
    "loss",  # f at the agreed model, or at the mean of the models
    "grad_norm2",  # |grad f|^2 there
    "consensus2",  # mean over workers of |x_i - that|^2
    "distance2",  # |that - x*|^2, NaN where x* is unknown
    "accuracy",  # share of held-out samples that it gets right, NaN where there are none
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


def measure(problem: Problem, x: Array) -> tuple[float, float, float, float]:
    """Return loss, |grad f|^2, |x - x*|^2 and accuracy on held-out samples at x (d,)."""
    gradient = problem.full_gradient(x)
    away = nan if problem.optimum is None else x - problem.optimum
    return (
        float(problem.loss(x)),
        float(gradient @ gradient),
        float(np.dot(away, away)),
        float(getattr(problem, "test_accuracy", lambda x: nan)(x)),
    )
