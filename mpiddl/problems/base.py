"""What every problem of this room shares: its options checked, its layers, how workers differ.

The dial `zeta2` makes the workers of any problem differ by a known amount:

    f_i(x) := f_i(x) + <s_i, x>       s_i = sqrt(zeta2) c_i u      u = (1, .., 1)/sqrt(d)
    c_i = cos(2 pi i/n), scaled to (1/n) sum c_i^2 = 1;  sum c_i = 0;  one worker: c = 0

The shifts add up to nothing, so they leave f, its minimum and every Hessian as they are. Where the
workers are alike but for them, (1/n) sum |grad f_i - grad f|^2 = zeta2 at every x. c is the slowest
eigenvector of a ring of n: the heterogeneity that gossip mixes worst.

A problem is asked for gradients in its own dtype, float32 or float64, and measured in float64
whatever the dtype: `loss`, `full_gradient`, `noise2` and `heterogeneity2` take x of either width
and concern the f that the stored (perhaps float32) numbers define.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from math import isfinite, nan, sqrt
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


def _dtype(value: Any) -> np.dtype[Any]:
    """Return float32 or float64, as `value` says; ConfigurationError if it says neither."""
    with suppress(TypeError):
        for known in (np.dtype(np.float32), np.dtype(np.float64)):
            if np.dtype(value) == known:
                return known
    raise ConfigurationError(f"dtype {value}: problems compute in float32 or float64")


def _cosines(n: int) -> Array:
    """Return c (n,): a cosine over the ring with mean 0 and mean square 1; n = 1: 0."""
    c = np.cos(2 * np.pi * np.arange(n) / n)
    c -= c.mean()
    return c / np.sqrt(np.mean(c * c)) if n > 1 else c


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
    zeta2 : float
        (1/n) sum |s_i|^2; one worker cannot differ from itself: then 0.

    Raises
    ------
    ConfigurationError
        If an option is out of range; the message names it.
    """

    def __init__(
        self,
        name: str,
        workers: int,
        seed: int,
        layout: Layout,
        dtype: Any,
        zeta2: float = 0.0,
    ) -> None:
        self.name = name
        self.workers = whole("workers", workers, 1)
        self.seed = whole("seed", seed, 0)
        self.layout = layout
        self.options: Mapping[str, Any] = {}
        self.dtype = _dtype(dtype)
        self._spans = tuple(layout.span(layer) for layer in range(len(layout.names)))
        zeta2 = number("zeta2", zeta2)
        self._zeta2 = zeta2 if self.workers > 1 else 0.0
        self._shifts = _cosines(self.workers) * sqrt(zeta2 / layout.size)  # s_i, entries alike

    def full_gradient(self, x: Array, worker: int | None = None) -> Array:
        """Return grad f(x), or grad f_i(x) of one worker, exactly; float64 (d,), a new array."""
        raise NotImplementedError

    def test_accuracy(self, x: Array) -> float:
        """Return the share of held-out samples that `x` (d,) gets right; nan: none are held out."""
        return nan

    def heterogeneity2(self, x: Array) -> float:
        """Return (1/n) sum_i |grad f_i(x) - grad f(x)|^2 at `x` (d,), exactly."""
        mean = self.full_gradient(x)
        apart = (self.full_gradient(x, worker) - mean for worker in range(self.workers))
        return float(sum(difference @ difference for difference in apart)) / self.workers
