"""Least squares on made-up rows: noise that comes from the rows drawn, and grows away from x*.

f = (1/m) sum_k (a_k.x - y_k)^2 / 2, a_kj = sqrt(s_j) z_kj, y_k = a_k.1 + z_k, z normal and always
the same. Every worker draws one of the m rows, with replacement.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from theory.testbed.base import Base, Floats

__all__ = ["LeastSquares", "made_up"]


def made_up(samples: int, spectrum: Floats) -> tuple[Floats, Floats]:
    """Return rows a (m, d) and targets y (m,)."""
    stream = np.random.Generator(np.random.SFC64(np.random.SeedSequence(0, spawn_key=(5,))))
    z = stream.standard_normal((samples, spectrum.size + 1))
    rows = z[:, :-1] * np.sqrt(spectrum)
    return rows, rows.sum(axis=1) + z[:, -1]


@dataclass(frozen=True)
class LeastSquares(Base):
    """Half the mean square of a x - y, a (m, d), y (m,); the start is 0."""

    a: Floats
    y: Floats

    @cached_property
    def hessian(self) -> Floats:
        """The Hessian a'a / m, (d, d)."""
        hessian: Floats = self.a.T @ self.a / len(self.a)
        return hessian

    @cached_property
    def optimum(self) -> Floats:
        """The minimiser x*, (d,)."""
        return np.asarray(np.linalg.lstsq(self.a, self.y, rcond=None)[0], dtype=np.float64)

    @cached_property
    def residuals(self) -> Floats:
        """What is left at x*, y - a x*, (m,)."""
        return self.y - self.a @ self.optimum

    @property
    def f_star(self) -> float:
        """The infimum of f."""
        return float(self.value(self.optimum))

    @property
    def x0(self) -> Floats:
        """The common start 0, (d,)."""
        return np.zeros(self.d)

    def value(self, v: Floats) -> Floats:
        """Return f(v): (..., d) -> (...)."""
        value: Floats = ((v @ self.a.T - self.y) ** 2).mean(axis=-1) / 2
        return value

    def gradient(self, v: Floats) -> Floats:
        """Return grad f(v): (..., d) -> (..., d)."""
        gradient: Floats = (v - self.optimum) @ self.hessian
        return gradient

    def gradients(self, y: Floats) -> Floats:
        """Return grad f(y_i), for all workers draw from all rows: (..., n, d) -> (..., n, d)."""
        return self.gradient(y)

    def draws(self, rng: np.random.Generator, steps: int, workers: int) -> NDArray[np.int64]:
        """Return the numbers of the rows drawn, (steps, workers)."""
        return rng.integers(len(self.a), size=(steps, workers))

    def stochastic(self, y: Floats, drawn: NDArray[np.int64]) -> Floats:
        """Return the gradients of single rows: (..., n, d), (..., n) -> (..., n, d)."""
        rows = self.a[drawn]
        apart = (rows * y).sum(axis=-1) - self.y[drawn]
        gradients: Floats = rows * apart[..., None]
        return gradients

    @property
    def values(self) -> dict[str, float]:
        """The constants by the names of the theorems; no sigma2 bounds the noise."""
        squares = (self.a**2).sum(axis=1)
        return super().values | {
            "zeta2": 0.0,
            "mu": float(np.linalg.eigvalsh(self.hessian)[0]),
            "Lmax": float(squares.max()),
            "ss": float((squares * self.residuals**2).mean()),
        }
