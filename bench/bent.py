"""Problems from their minimum, and workers whose functions bend differently."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bench.wrappers import Wrapped
from mpiddl.arrays import Array
from mpiddl.errors import ConfigurationError
from mpiddl.problems import NEED, READY, Event
from mpiddl.problems.quadratic import Quadratic

__all__ = ["AtMinimum", "Bent"]


class AtMinimum(Wrapped):
    """A problem whose workers start at x*, so that noise alone moves them; x* must be known."""

    def start(self) -> Array:
        """Return x* (d,)."""
        if self.optimum is None:
            raise ConfigurationError(f"{self.name} does not know its minimum: use another problem")
        return self.optimum.astype(self.dtype)


class Bent(Wrapped):
    """A parabola f whose workers bend differently: f_i(x) = f(x) + bend c_i |x|^2 / 2 + <s_i, x>.

    The c_i are those of the shifts s_i = sqrt(zeta2) c_i u, and add up to nothing: f and its
    minimum stay. It is announced as one layer; what theory knows of it is in `theory.bent`.
    """

    inner: Quadratic

    def __init__(self, inner: Quadratic, bend: float) -> None:
        super().__init__(inner)
        zero = np.zeros(self.layout.size)
        shifts = [inner.full_gradient(zero, worker) for worker in range(self.workers)]
        scale = np.linalg.norm(shifts) / np.sqrt(self.workers)  # sqrt(zeta2)
        self.bends = [bend * float(s.sum()) / np.sqrt(s.size) / scale for s in shifts]

    def batch(self, worker: int, step: int) -> Any:
        """Return noise and shift (d,), and the worker whose they are."""
        return self.inner.batch(worker, step), worker

    def gradient(self, x: Array, batch: Any, out: Array) -> Iterator[tuple[Event, int]]:
        """Write g_i at `x` (d,) into `out` (d,)."""
        extra, worker = batch
        yield NEED, 0
        for _ in self.inner.gradient(x, extra, out):
            pass
        out += self.bends[worker] * x
        yield READY, 0

    def full_gradient(self, x: Array, worker: int | None = None) -> Array:
        """Return grad f(x) or grad f_i(x), (d,)."""
        slope = self.inner.full_gradient(x, worker)
        return slope if worker is None else slope + self.bends[worker] * x
