"""Quadratics whose workers bend differently: averaging local models misses the minimum of f.

    f_i(x) = 1/2 (x - b_i)'A_i(x - b_i) + <s_i, x>

    heta   A_i = Q_i diag(a) Q_i' with rotations Q_i, and b_i, all drawn once for every seed
    bez    A_i = 2 a_i a_i' + I/2, b_i = 0, x0 = (1, 1, 1); a_1 = (-3, 2, 2) and its rotations;
           three workers only

Letters A_i `matrices` (n, d, d) | b_i `centres` (n, d) | noise and shifts s_i: synthetic.py
Exact   L and mu over all f_i by eigenvalues (bez: 69/2 and 1/2; f itself 103/6 and 7/6);
        x* = (sum A_i)^-1 sum A_i b_i. heterogeneity2 grows with |x|: zeta2 is unknown for n > 1
Use     heta: H local steps of gradient descent converge to the x with sum M_i x = sum M_i b_i,
        M_i = I - (I - gam A_i)^H, which is not x*.
        bez: the largest entry alone, without a memory of the rest, makes x grow by
        1 + 11 gam/6 a step (ef-sgd-nonconvex, negative control).
Source  Beznosikov, Horvath, Richtarik & Safaryan, "On biased compression for distributed
        learning", 2020.  arXiv:2002.12410 (bez)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from mpiddl.arrays import Array, Purpose, stream
from mpiddl.errors import ConfigurationError
from mpiddl.problems import NEED, READY, Event, problems
from mpiddl.problems.base import QUIET, number, whole
from mpiddl.problems.quadratic import SPECTRUM, spectrum_of
from mpiddl.problems.synthetic import Synthetic

__all__ = ["Quadratics", "bez", "heta"]


class Pull(NamedTuple):
    """What one stochastic gradient adds, noise and shift (d,), and whose gradient it is."""

    extra: Array
    worker: int


class Quadratics(Synthetic):
    """f_i(x) = 1/2 (x - b_i)'A_i(x - b_i) with noise and shifts.

    Parameters
    ----------
    name : str
        What the problem is called in results.
    workers, seed : int
        Number n of workers; the one seed.
    matrices : float64 (n, d, d)
        The A_i, symmetric and positive definite.
    centres : float64 (n, d)
        The b_i.
    **options
        sigma2, zeta2, radius, layers and dtype, see `Synthetic`.
    """

    optimum: Array

    def __init__(
        self,
        name: str,
        workers: int,
        seed: int,
        matrices: Array,
        centres: Array,
        **options: Any,
    ) -> None:
        d = centres.shape[1]
        super().__init__(name, workers, seed, d=d, curvature=(0.0, 0.0), **options)
        self._matrices, self._centres = matrices.astype(self.dtype), centres.astype(self.dtype)
        self.matrices = self._matrices.astype(np.float64)
        self.centres = self._centres.astype(np.float64)
        bends = np.linalg.eigvalsh(self.matrices)
        drive = np.einsum("ijk,ik->j", self.matrices, self.centres)
        self.optimum = np.linalg.solve(self.matrices.sum(axis=0), drive)
        self.constants = replace(
            self.constants,
            L=float(bends.max()),
            mu=float(bends.min()),
            zeta2=0.0 if self.workers == 1 else None,
            f_star=self.loss(self.optimum),
        )

    def batch(self, worker: int, step: int) -> Any:
        """Return what this worker adds at this step, and the worker."""
        return Pull(super().batch(worker, step), worker)

    def gradient(self, x: Array, batch: Any, out: Array) -> Iterator[tuple[Event, int]]:
        """Write g_i at `x` (d,) into `out` (d,): one product gives all layers."""
        layers = range(len(self._spans))
        yield from ((NEED, layer) for layer in layers)
        self._pull(x, batch, out)
        yield from ((READY, layer) for layer in reversed(layers))

    @QUIET
    def _pull(self, x: Array, batch: Pull, out: Array) -> None:
        np.matmul(self._matrices[batch.worker], x - self._centres[batch.worker], out=out)
        out += batch.extra

    def _value(self, x: Array) -> float:
        square = float(x @ x)
        if not np.isfinite(square):
            return square
        apart = x - self.centres
        return 0.5 * float(np.einsum("ij,ijk,ik->", apart, self.matrices, apart)) / self.workers

    @QUIET
    def full_gradient(self, x: Array, worker: int | None = None) -> Array:
        """Return grad f(x), or grad f_i(x) of one worker, exactly; float64 (d,), a new array."""
        apart = np.asarray(x, dtype=np.float64) - self.centres
        if worker is not None:
            return self.matrices[worker] @ apart[worker] + self._shifts[worker]
        slope: Array = np.einsum("ijk,ik->j", self.matrices, apart) / self.workers
        return slope


@problems.register("heta")
def heta(
    workers: int, seed: int, *, spectrum: Any = SPECTRUM, spread: float = 1.0, **options: Any
) -> Quadratics:
    """Quadratics that bend differently on every worker: local steps miss the minimum.

    Rotations of one `spectrum`, each a_j above 0, around centres with |b_i| about `spread`;
    `options` as in `Synthetic`.
    """
    a = np.array(spectrum_of(spectrum, above=True))
    n, d = whole("workers", workers, 1), len(a)
    matrices, centres = np.empty((n, d, d)), np.empty((n, d))
    for i in range(n):
        draws = stream(0, Purpose.PROBLEM, i)
        q = np.linalg.qr(draws.standard_normal((d, d)))[0]
        matrices[i] = (q * a) @ q.T
        centres[i] = number("spread", spread) / np.sqrt(d) * draws.standard_normal(d)
    matrices = (matrices + matrices.transpose(0, 2, 1)) / 2.0
    return Quadratics("heta", workers, seed, matrices, centres, **options)


@problems.register("bez")
def bez(workers: int, seed: int, **options: Any) -> Quadratics:
    """Three workers that pull apart: compression without memory diverges.

    `options` as in `Synthetic`, x0 = (1, 1, 1); ConfigurationError unless there are 3 workers.
    """
    if whole("workers", workers, 1) != 3:
        raise ConfigurationError(
            f"bez: its three objectives are for 3 workers, not {workers}; heta takes any number"
        )
    pulls = 2.0 - 5.0 * np.eye(3)
    matrices = 2.0 * pulls[:, :, np.newaxis] * pulls[:, np.newaxis, :] + 0.5 * np.eye(3)
    options = {"radius": float(np.sqrt(3.0)), **options}
    return Quadratics("bez", workers, seed, matrices, np.zeros((3, 3)), **options)
