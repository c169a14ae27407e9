"""Quadratics that bend differently on every worker: local steps, and gossip, miss the minimum.

f_i(x) = (x - b_i)'A_i(x - b_i)/2 + <s_i, x>, A_i = Q_i diag(a) Q_i'. Rotations Q_i and centres b_i
are made up once, always the same for worker i; s_i as in `synthetic`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from theory.testbed.base import Floats
from theory.testbed.synthetic import Synthetic

__all__ = ["Heta", "bends"]


def bends(n: int, spectrum: Floats, spread: float) -> tuple[Floats, Floats]:
    """Return A (n, d, d), and centres b (n, d) with |b_i| about `spread`."""
    d = spectrum.size
    matrices, centres = np.empty((n, d, d)), np.empty((n, d))
    for i in range(n):
        seed = np.random.SeedSequence(0, spawn_key=(5, i))
        draws = np.random.Generator(np.random.SFC64(seed))
        q = np.linalg.qr(draws.standard_normal((d, d)))[0]
        matrices[i] = (q * spectrum) @ q.T
        centres[i] = spread / np.sqrt(d) * draws.standard_normal(d)
    return (matrices + matrices.transpose(0, 2, 1)) / 2, centres


@dataclass(frozen=True)
class Heta(Synthetic):
    """Matrices A (n, d, d) and centres b (n, d)."""

    A: Floats
    b: Floats

    @cached_property
    def optimum(self) -> Floats:
        """The minimiser x* of f, (d,): (sum A_i) x* = sum A_i b_i."""
        drive = np.einsum("ijk,ik->j", self.A, self.b)
        return np.linalg.solve(self.A.sum(axis=0), drive)

    @cached_property
    def f_star(self) -> float:
        """The infimum of f."""
        return float(self.value(self.optimum))

    def value(self, v: Floats) -> Floats:
        """Return f(v): (..., d) -> (...)."""
        apart = v[..., None, :] - self.b
        value: Floats = np.einsum("...ij,ijk,...ik->...", apart, self.A, apart) / (2 * self.n)
        return value

    def gradient(self, v: Floats) -> Floats:
        """Return grad f(v): (..., d) -> (..., d)."""
        apart = v[..., None, :] - self.b
        gradient: Floats = np.einsum("ijk,...ik->...j", self.A, apart) / self.n
        return gradient

    def gradients(self, y: Floats) -> Floats:
        """Return grad f_i(y_i): (..., n, d) -> (..., n, d)."""
        gradients: Floats = np.einsum("ijk,...ik->...ij", self.A, y - self.b) + self.s
        return gradients

    @property
    def values(self) -> dict[str, float]:
        """The constants by the names of the theorems; no zeta2 bounds how workers differ."""
        at = self.gradients(np.broadcast_to(self.optimum, (self.n, self.d)))
        found = super().values | {
            "mu": float(np.linalg.eigvalsh(self.A).min()),
            "zs": float((at**2).sum(axis=1).mean()),
        }
        return found if self.n == 1 else {x: v for x, v in found.items() if x != "zeta2"}
