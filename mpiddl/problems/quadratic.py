"""Quadratics with a chosen spectrum: every constant is exact and many bounds are attained.

    iso    f(x) = (L/2) |x|^2               L = mu
    spec   f(x) = 1/2 sum_j a_j x_j^2       L = max a, mu = min a
    het    the same with zeta2 = 1: f_i = f + <s_i, x>, minimised at -s_i/a

Letters a `_spectrum` (d,) | noise and shifts s_i: synthetic.py
Why     under a fixed step size the mean and the covariance of a linear method follow linear
        recursions, so that what a theorem bounds is known exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mpiddl.arrays import Array
from mpiddl.errors import ConfigurationError
from mpiddl.problems import problems
from mpiddl.problems.base import number, whole
from mpiddl.problems.synthetic import Synthetic

__all__ = ["SPECTRUM", "Quadratic", "het", "iso", "spec", "spectrum_of"]

SPECTRUM = tuple(float(a) for a in np.geomspace(0.01, 1.0, 10))


def spectrum_of(values: Any, *, above: bool = False) -> list[float]:
    """Return option `spectrum` as numbers of at least 0, or `above` it.

    Raises
    ------
    ConfigurationError
        If there are none, or one is out of range.
    """
    entries = np.atleast_1d(np.array(values, dtype=object))  # rows of any length: refused below
    found = [number("spectrum", value, above=above) for value in entries]
    if not found:
        raise ConfigurationError("spectrum = (): needs at least one number")
    return found


class Quadratic(Synthetic):
    """f(x) = 1/2 sum_j a_j x_j^2 with noise and shifts.

    Parameters
    ----------
    name : str
        What the problem is called in results.
    workers, seed : int
        Number n of workers; the one seed.
    spectrum : sequence of float, (d,)
        The a_j, each at least 0.
    **options
        sigma2, zeta2, radius, layers and dtype, see `Synthetic`.

    Raises
    ------
    ConfigurationError
        If an option is out of range; the message names it.
    """

    def __init__(self, name: str, workers: int, seed: int, spectrum: Any, **options: Any) -> None:
        a = spectrum_of(spectrum)
        super().__init__(name, workers, seed, d=len(a), curvature=(max(a), min(a)), **options)
        self._spectrum = np.array(a, dtype=self.dtype)
        self.optimum = np.zeros(len(a)) if min(a) > 0 else None

    def _value(self, x: Array) -> float:
        return 0.5 * float(self._spectrum @ (x * x))

    def _slope(self, x: Array, out: Array, span: slice) -> None:
        np.multiply(self._spectrum[span], x, out=out)


@problems.register("iso")
def iso(workers: int, seed: int, *, d: int = 10, L: float = 1.0, **options: Any) -> Quadratic:
    """A round bowl, on which many bounds are attained.

    f(x) = (L/2) |x|^2 over `d` parameters, L > 0; `options` as in `Synthetic`.
    """
    spectrum = (number("L", L, above=True),) * whole("d", d, 1)
    return Quadratic("iso", workers, seed, spectrum, **options)


@problems.register("spec")
def spec(workers: int, seed: int, *, spectrum: Any = SPECTRUM, **options: Any) -> Quadratic:
    """A bowl with a chosen spectrum, by default 0.01 .. 1.

    f(x) = 1/2 sum_j a_j x_j^2, the a_j >= 0 in `spectrum`; `options` as in `Synthetic`.
    """
    return Quadratic("spec", workers, seed, spectrum, **options)


@problems.register("het")
def het(
    workers: int, seed: int, *, spectrum: Any = SPECTRUM, zeta2: float = 1.0, **options: Any
) -> Quadratic:
    """The same bowl for workers that pull in different directions.

    It is `spec` with zeta2 = 1 by default; `options` as in `Synthetic`.
    """
    return Quadratic("het", workers, seed, spectrum, zeta2=zeta2, **options)
