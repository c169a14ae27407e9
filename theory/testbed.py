"""Problems with exactly known constants: what the bounds are tried on.

iso   f = (L/2) |x|^2                                  many bounds hold with equality
spec  f = (1/2) sum a_j x_j^2                          curvatures over two decades
het   spec with zeta2 = 1                              workers that disagree
nc    f = (L/2) sum x_j^2 / (1 + x_j^2)                f'' in [-L/4, L], not convex

Heterogeneity  f_i = f + <s_i, x>, s_i = sqrt(zeta2) c_i u, u = (1, .., 1) / sqrt(d), c_i = the
               slowest mode of the ring, cos(2 pi i / n), with mean square 1. The s_i add up to 0,
               so f and its minimum stay, and zeta2 is exact at every x.
Noise          N(0, sigma2/d I), fresh per worker and step, so sigma2 is exact at every x.
Start          x0 = radius / sqrt(d) * (1, .., 1); the minimum is f* = 0 at x* = 0.

Every method is vectorised over leading axes (seeds, steps): the last axis is the coordinate, the
one before it, where a method speaks of workers, is the worker.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "NonConvex", "Oracle", "Quadratic", "problem", "shifts"]

Floats: TypeAlias = NDArray[np.float64]


class Oracle(Protocol):
    """What the checks ask of a problem: exact values and gradients, no noise."""

    @property
    def optimum(self) -> Floats | None:
        """The minimiser x* of f, (d,); None if it is unknown or not unique."""

    @property
    def f_star(self) -> float:
        """The infimum of f."""

    def value(self, v: Floats) -> Floats:
        """Return f(v): (..., d) -> (...)."""

    def gradient(self, v: Floats) -> Floats:
        """Return grad f(v): (..., d) -> (..., d)."""

    def gradients(self, y: Floats) -> Floats:
        """Return grad f_i(y_i) of every worker: (..., n, d) -> (..., n, d)."""


def shifts(n: int, d: int, zeta2: float) -> Floats:
    """Return the linear terms s_i (n, d) whose heterogeneity is exactly zeta2 (0 for n = 1)."""
    if n == 1:
        return np.zeros((1, d))
    c = np.cos(2 * np.pi * np.arange(n) / n)
    c *= np.sqrt(zeta2 / np.mean(c**2))
    return np.outer(c, np.full(d, 1 / np.sqrt(d)))


@dataclass(frozen=True)
class _Base:
    """Constants common to all problems; s (n, d) are the linear terms."""

    n: int
    d: int
    L: float
    sigma2: float
    zeta2: float
    radius: float

    f_star = 0.0

    @property
    def optimum(self) -> Floats | None:
        """The minimiser x* = 0, (d,)."""
        return np.zeros(self.d)

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

    def gradient(self, v: Floats) -> Floats:
        """Return grad f(v): (..., d) -> (..., d)."""
        raise NotImplementedError

    def value(self, v: Floats) -> Floats:
        """Return f(v): (..., d) -> (...)."""
        raise NotImplementedError

    @property
    def values(self) -> dict[str, float]:
        """The constants by the names of the theorems."""
        return {
            "n": self.n,
            "L": self.L,
            "sigma2": self.sigma2,
            "zeta2": self.zeta2 if self.n > 1 else 0.0,
            "Delta": float(self.value(self.x0)) - self.f_star,
            "R2": float(np.sum(self.x0**2)),
        }


@dataclass(frozen=True)
class Quadratic(_Base):
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
class NonConvex(_Base):
    """f = (L/2) sum x_j^2 / (1 + x_j^2)."""

    def value(self, v: Floats) -> Floats:
        """Return f(v): (..., d) -> (...)."""
        square = v**2
        value: Floats = self.L / 2 * np.sum(square / (1 + square), axis=-1)
        return value

    def gradient(self, v: Floats) -> Floats:
        """Return grad f(v): (..., d) -> (..., d)."""
        return self.L * v / (1 + v**2) ** 2


def problem(name: str, n: int, **options: Any) -> Quadratic | NonConvex:
    """Return a problem of n workers.

    Parameters
    ----------
    name : str
        "iso", "spec", "het" or "nc".
    n : int
        Number of workers.
    **options
        d=10, L=1.0 (iso, nc), spectrum (spec, het), sigma2=1.0, zeta2=0.0 (het: 1.0), radius=1.0.

    Raises
    ------
    ValueError
        If the name or an option is unknown.
    """
    known = {"iso": {"d", "L"}, "nc": {"d", "L"}, "spec": {"spectrum"}, "het": {"spectrum"}}
    if name not in known:
        raise ValueError(f"no problem {name!r}; there are {', '.join(known)}")
    strange = options.keys() - known[name] - {"sigma2", "zeta2", "radius"}
    if strange:
        raise ValueError(f"problem {name!r} has no option {', '.join(sorted(strange))}")
    if name in ("iso", "nc"):
        a = np.full(options.get("d", 10), float(options.get("L", 1.0)))
    else:
        a = np.array(options.get("spectrum", np.geomspace(0.01, 1, 10)), dtype=np.float64)
    zeta2 = options.get("zeta2", 1.0 if name == "het" else 0.0)
    common = (n, a.size, float(a.max()), options.get("sigma2", 1.0), zeta2)
    radius = options.get("radius", 1.0)
    return NonConvex(*common, radius) if name == "nc" else Quadratic(*common, radius, a)
