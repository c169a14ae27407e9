"""Smooth functions with exact constants: additive noise, and a shift that makes workers differ.

    f_i(x) = f(x) + <s_i, x>          g_i(x) = grad f(x) + s_i + N(0, sigma2/d I)

Letters s_i `_shifts[i]`, every entry alike, see base.py | sigma2/d `_deviation` squared
Exact   zeta2, at every x. The noise has E|.|^2 = sigma2 at every x and is independent over
        workers and steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import Any

import numpy as np

from mpiddl.arrays import Array, Purpose, stream
from mpiddl.errors import ConfigurationError
from mpiddl.layout import Layout
from mpiddl.problems import NEED, READY, Constants, Event
from mpiddl.problems.base import QUIET, Base, number, whole

__all__ = ["Synthetic"]


def _pieces(d: int, layers: int) -> Layout:
    """Return d entries as `layers` pieces whose sizes differ by one at most."""
    if layers > d:
        raise ConfigurationError(f"layers = {layers}: a vector of d = {d} has no more than {d}")
    sizes = [d // layers + (layer < d % layers) for layer in range(layers)]
    return Layout(
        tuple(f"piece{layer}" for layer in range(layers)), tuple((size,) for size in sizes)
    )


class Synthetic(Base):
    """f plus noise and shifts; a subclass says what f is, and its minimum if that is not 0.

    Parameters
    ----------
    name, workers, seed, dtype
        As in `Base`.
    d : int
        Number of parameters, at least 1.
    curvature : tuple of (float, float or None)
        L and mu of f.
    sigma2 : float
        E|noise|^2, total over coordinates.
    zeta2 : float
        (1/n) sum |s_i|^2, see `Base`.
    radius : float
        |x0|; all entries of x0 are alike.
    layers : int
        In how many equal pieces the vector is announced, 1 to d.

    Raises
    ------
    ConfigurationError
        If an option is out of range; the message names it.
    """

    optimum: Array | None

    def __init__(
        self,
        name: str,
        workers: int,
        seed: int,
        *,
        d: int,
        curvature: tuple[float, float | None],
        sigma2: float = 1.0,
        zeta2: float = 0.0,
        radius: float = 1.0,
        layers: int = 1,
        dtype: Any = np.float64,
    ) -> None:
        layout = _pieces(d, whole("layers", layers, 1))
        super().__init__(name, workers, seed, layout, dtype, zeta2)
        self._sigma2 = number("sigma2", sigma2)
        self._deviation = sqrt(self._sigma2 / d)
        self._start = np.full(d, number("radius", radius) / sqrt(d), dtype=self.dtype)
        self.constants = Constants(*curvature, self._sigma2, self._zeta2, f_star=0.0)

    def _value(self, x: Array) -> float:
        """Return f at `x`, float64 (d,)."""
        raise NotImplementedError

    def _slope(self, x: Array, out: Array, span: slice) -> None:
        """Write the entries `span` of grad f, which read only these of x; `x`, `out`: (size,)."""
        raise NotImplementedError

    def start(self) -> Array:
        """Return x0 (d,), the same on every rank."""
        return self._start.copy()

    def batch(self, worker: int, step: int) -> Array:
        """Return what this worker adds to grad f at this step, noise and shift: (d,), new."""
        extra = stream(self.seed, Purpose.NOISE, worker, step).standard_normal(self.layout.size)
        extra *= self._deviation
        extra += self._shifts[worker]
        return extra.astype(self.dtype, copy=False)

    def gradient(self, x: Array, batch: Array, out: Array) -> Iterator[tuple[Event, int]]:
        """Write g_i at `x` (d,) into `out` (d,), announcing layers as `Problem` says."""
        layers = range(len(self._spans))
        for layer in layers:
            yield NEED, layer
        for layer in reversed(layers):
            span = self._spans[layer]
            self._differentiate(x[span], out[span], span)
            out[span] += batch[span]
            yield READY, layer

    @QUIET
    def _differentiate(self, x: Array, out: Array, span: slice) -> None:
        self._slope(x, out, span)

    @QUIET
    def loss(self, x: Array) -> float:
        """Return f at `x` (d,), which is the mean of all f_i."""
        return self._value(np.asarray(x, dtype=np.float64))

    def full_gradient(self, x: Array, worker: int | None = None) -> Array:
        """Return grad f(x), or grad f_i(x) of one worker, exactly; float64 (d,), a new array."""
        out = np.empty(self.layout.size)
        self._differentiate(np.asarray(x, dtype=np.float64), out, slice(0, out.size))
        if worker is not None:
            out += self._shifts[worker]
        return out

    def noise2(self, x: Array) -> float:
        """Return E|g_i(x) - grad f_i(x)|^2: sigma2, at every x and for every worker."""
        return self._sigma2
