"""Smooth functions with exact constants: additive noise, and linear terms that make workers differ.

Heterogeneity  f_i = f + <s_i, x>, s_i = sqrt(zeta2) c_i u, u = (1, .., 1) / sqrt(d), c_i = the
               slowest mode of the ring, cos(2 pi i / n), with mean square 1. The s_i add up to 0,
               so f and its minimum stay, and zeta2 is exact at every x.
Noise          N(0, sigma2/d I), fresh per worker and step, so sigma2 is exact at every x.
Start          x0 = radius / sqrt(d) * (1, .., 1); the minimum is f* = 0 at x* = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theory.testbed.base import Base, Floats

__all__ = ["Huber", "NonConvex", "PseudoHuber", "Quadratic", "Synthetic", "shifts"]


def shifts(n: int, d: int, zeta2: float) -> Floats:
    """Return the linear terms s_i (n, d) whose heterogeneity is exactly zeta2 (0 for n = 1)."""
    if n == 1:
        return np.zeros((1, d))
    c = np.cos(2 * np.pi * np.arange(n) / n)
    c *= np.sqrt(zeta2 / np.mean(c**2))
    return np.outer(c, np.full(d, 1 / np.sqrt(d)))


@dataclass(frozen=True)
class Synthetic(Base):
    """A function with noise and shifts; s (n, d) are the linear terms."""

    sigma2: float
    zeta2: float
    radius: float

    @property
    def x0(self) -> Floats:
        """The common start, (d,)."""
        return np.full(self.d, self.radius / np.sqrt(self.d))

    @property
    def s(self) -> Floats:
        """The linear terms, (n, d)."""
        return shifts(self.n, self.d, self.zeta2)

    def gradients(self, y: Floats) -> Floats:
        """Return grad f_i(y_i): (..., n, d) -> (..., n, d)."""
        gradient: Floats = self.gradient(y) + self.s
        return gradient

    def draws(self, rng: np.random.Generator, steps: int, workers: int) -> Floats:
        """Return the noise, (steps, workers, d)."""
        noise: Floats = rng.standard_normal((steps, workers, self.d))
        noise *= np.sqrt(self.sigma2 / self.d)
        return noise

    def stochastic(self, y: Floats, drawn: Floats) -> Floats:
        """Return grad f_i(y_i) plus noise: twice (..., n, d) -> (..., n, d)."""
        return self.gradients(y) + drawn

    @property
    def steepest(self) -> float | None:
        """The largest |grad f|; None if there is none."""
        return None

    @property
    def values(self) -> dict[str, float]:
        """The constants by the names of the theorems; G2 if gradients are bounded."""
        zeta2 = self.zeta2 if self.n > 1 else 0.0
        found = super().values | {"sigma2": self.sigma2, "zeta2": zeta2, "zs": zeta2}
        if self.steepest is not None:
            found["G2"] = (self.steepest + np.sqrt(zeta2)) ** 2 + self.sigma2
        return found


@dataclass(frozen=True)
class Quadratic(Synthetic):
    """f = (1/2) sum a_j x_j^2 with curvatures a (d,)."""

    a: Floats

    def value(self, v: Floats) -> Floats:
        """Return f(v): (..., d) -> (...)."""
        value: Floats = 0.5 * (v**2 @ self.a)
        return value

    def gradient(self, v: Floats) -> Floats:
        """Return grad f(v): (..., d) -> (..., d)."""
        return self.a * v

    @property
    def values(self) -> dict[str, float]:
        """The constants by the names of the theorems, mu among them."""
        return super().values | {"mu": float(self.a.min())}


@dataclass(frozen=True)
class NonConvex(Synthetic):
    """f = (L/2) sum x_j^2 / (1 + x_j^2)."""

    @property
    def steepest(self) -> float:
        """The largest |grad f|, at x_j = 1/sqrt(3)."""
        return float(self.L * np.sqrt(27 * self.d) / 16)

    def value(self, v: Floats) -> Floats:
        """Return f(v): (..., d) -> (...)."""
        square = v**2
        value: Floats = self.L / 2 * np.sum(square / (1 + square), axis=-1)
        return value

    def gradient(self, v: Floats) -> Floats:
        """Return grad f(v): (..., d) -> (..., d)."""
        return self.L * v / (1 + v**2) ** 2


@dataclass(frozen=True)
class Huber(Synthetic):
    """f = sum h(x_j), h = L x^2 / 2 up to |x| = c and straight beyond."""

    c: float

    @property
    def steepest(self) -> float:
        """The largest |grad f|, where all flanks are straight."""
        return float(self.L * self.c * np.sqrt(self.d))

    def value(self, v: Floats) -> Floats:
        """Return f(v): (..., d) -> (...)."""
        size = np.abs(v)
        inside = np.minimum(size, self.c)
        value: Floats = self.L * np.sum(inside * (size - inside / 2), axis=-1)
        return value

    def gradient(self, v: Floats) -> Floats:
        """Return grad f(v): (..., d) -> (..., d)."""
        slope: Floats = self.L * np.clip(v, -self.c, self.c)
        return slope


@dataclass(frozen=True)
class PseudoHuber(Synthetic):
    """f = sum a_j c^2 (sqrt(1 + (x_j / c)^2) - 1) with curvatures a (d,) at 0, none far out."""

    a: Floats
    c: float

    @property
    def steepest(self) -> float:
        """The largest |grad f|, far out."""
        return float(self.c * np.linalg.norm(self.a))

    def value(self, v: Floats) -> Floats:
        """Return f(v): (..., d) -> (...)."""
        value: Floats = self.c**2 * ((np.hypot(1, v / self.c) - 1) @ self.a)
        return value

    def gradient(self, v: Floats) -> Floats:
        """Return grad f(v): (..., d) -> (..., d)."""
        slope: Floats = self.a * v / np.hypot(1, v / self.c)
        return slope
