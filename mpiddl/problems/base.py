"""What every problem of this room shares: its options checked, its layers, its spread.

A problem is asked for gradients in its own dtype, float32 or float64, and measured in float64
whatever the dtype: `loss`, `full_gradient`, `noise2` and `heterogeneity2` take x of either width
and concern the f that the stored (perhaps float32) numbers define.
"""

from __future__ import annotations

from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np

from mpiddl.arrays import Array
from mpiddl.errors import ConfigurationError
from mpiddl.layout import Layout

__all__ = ["QUIET", "Base", "number", "whole"]

QUIET = np.errstate(over="ignore", invalid="ignore")  # divergence is the trainer's to report


def number(name: str, value: object, low: float = 0.0, *, above: bool = False) -> float:
    """Return option `value` as a float.

    Raises
    ------
    ConfigurationError
        If it is not a finite real number, or less than `low` (or equal to it, where `above`).
    """
    if isinstance(value, Real) and isfinite(found := float(value)):
        if found > low or (found == low and not above):
            return found
    bound = f"above {low:g}" if above else f"of at least {low:g}"
    raise ConfigurationError(f"{name} = {value!r}: must be a finite number {bound}")


def whole(name: str, value: object, low: int) -> int:
    """Return option `value` as an int.

    Raises
    ------
    ConfigurationError
        If it is not a whole number, or less than `low`.
    """
    if isinstance(value, Integral) and (found := int(value)) >= low:
        return found
    raise ConfigurationError(f"{name} = {value!r}: must be a whole number of at least {low}")


class Base:
    """n objectives over one vector, with their options checked.

    Parameters
    ----------
    name : str
        What the problem is called in results.
    workers : int
        Number n of objectives, at least 1.
    seed : int
        The one seed of the run, at least 0.
    layout : Layout
        The layers of x.
    dtype : dtype-like
        float32 or float64: of x, of the batches and of the stochastic gradients.

    Raises
    ------
    ConfigurationError
        If an option is out of range; the message names it.
    """

    def __init__(self, name: str, workers: int, seed: int, layout: Layout, dtype: Any) -> None:
        self.name = name
        self.workers = whole("workers", workers, 1)
        self.seed = whole("seed", seed, 0)
        self.layout = layout
        self.dtype = np.dtype(dtype)
        if self.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
            raise ConfigurationError(f"dtype {self.dtype}: problems compute in float32 or float64")
        self._spans = tuple(layout.span(layer) for layer in range(len(layout.names)))

    def full_gradient(self, x: Array, worker: int | None = None) -> Array:
        """Return grad f(x), or grad f_i(x) of one worker, exactly; float64 (d,), a new array."""
        raise NotImplementedError

    def heterogeneity2(self, x: Array) -> float:
        """Return (1/n) sum_i |grad f_i(x) - grad f(x)|^2 at `x` (d,), exactly."""
        mean = self.full_gradient(x)
        apart = (self.full_gradient(x, worker) - mean for worker in range(self.workers))
        return float(sum(difference @ difference for difference in apart)) / self.workers
