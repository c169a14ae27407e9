"""What the checks ask of a problem, and what all problems share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Base", "Floats", "Oracle"]

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


@dataclass(frozen=True)
class Base:
    """n workers, d coordinates, smoothness L; a subclass says what f is, and how it is sampled."""

    n: int
    d: int
    L: float

    @property
    def optimum(self) -> Floats | None:
        """The minimiser x* = 0, (d,)."""
        return np.zeros(self.d)

    @property
    def f_star(self) -> float:
        """The infimum of f."""
        return 0.0

    @property
    def x0(self) -> Floats:
        """The common start, (d,)."""
        raise NotImplementedError

    def value(self, v: Floats) -> Floats:
        """Return f(v): (..., d) -> (...)."""
        raise NotImplementedError

    def gradient(self, v: Floats) -> Floats:
        """Return grad f(v): (..., d) -> (..., d)."""
        raise NotImplementedError

    def gradients(self, y: Floats) -> Floats:
        """Return grad f_i(y_i): (..., n, d) -> (..., n, d)."""
        raise NotImplementedError

    def draws(self, rng: np.random.Generator, steps: int, workers: int) -> NDArray[Any]:
        """Return all that is random in the gradients of a run: (steps, workers, ...)."""
        raise NotImplementedError

    def stochastic(self, y: Floats, drawn: NDArray[Any]) -> Floats:
        """Return the stochastic gradients at y_i, (..., n, d), given the draws of a step."""
        raise NotImplementedError

    @property
    def values(self) -> dict[str, float]:
        """The constants by the names of the theorems."""
        away = self.x0 if self.optimum is None else self.x0 - self.optimum
        return {
            "n": self.n,
            "L": self.L,
            "Delta": float(self.value(self.x0)) - self.f_star,
            "R2": float(np.sum(away**2)),
        }
