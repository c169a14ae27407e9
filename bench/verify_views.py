"""Trials with views and falling steps as runs: a server, and gradients that carry their step.

The step of a gradient depends on its place in the fixed order, t = clock n + worker, not on when
the server takes it in. So workers push gam_t g_t, and the server moves by that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.jobs import Outcome
from bench.wrappers import Wrapped
from mpiddl.arrays import Array
from mpiddl.ledger import FIELDS
from mpiddl.problems import READY, Event, Problem
from theory.views import misplaced

if TYPE_CHECKING:
    from bench.verify_runs import Spec

__all__ = ["Falling", "observed"]


class Falling(Wrapped):
    """A problem whose gradients are multiplied by first / sqrt(t + 1)."""

    def __init__(self, inner: Problem, first: float, workers: int) -> None:
        super().__init__(inner)
        self.first, self.taking = first, workers

    def batch(self, worker: int, step: int) -> Any:
        """Return the inner batch and the step of this gradient."""
        return self.inner.batch(worker, step), _step(self.first, step * self.taking + worker)

    def gradient(self, x: Array, batch: Any, out: Array) -> Iterator[tuple[Event, int]]:
        """As `inner`, times the step."""
        own, factor = batch
        for event, layer in self.inner.gradient(x, own, out):
            if event is READY:
                out[self.layout.span(layer)] *= factor
            yield event, layer


def _step(first: float, t: Any) -> Any:
    return first / np.sqrt(t + 1)


def observed(spec: Spec, outcomes: Sequence[Outcome]) -> tuple[Array, Array, Array, Array]:
    """Return y, g (S, T, 1, d), v (S, T + 1, d) in the fixed order, and `misplaced` (S,)."""
    assert spec.falling is not None
    steps = _step(spec.falling, np.arange(spec.T))[:, None]
    y, moved = (
        np.stack(
            [np.stack([getattr(one, x) for one in run.traces[:-1]], axis=1) for run in outcomes]
        )
        for x in ("y", "g")
    )
    shape = (len(outcomes), spec.T, -1)
    y, moved = y.reshape(shape), moved.reshape(shape)
    v = np.concatenate((y[:, :1], y[:, :1] - np.cumsum(moved, axis=1)), axis=1)
    wrong = np.array([misplaced(_seen(spec, run)) for run in outcomes])
    return y[:, :, None], (moved / steps)[:, :, None], v, wrong


def _seen(spec: Spec, run: Outcome) -> Array:
    """Return how many clocks of each worker every view has in it, (T, n)."""
    assert run.services is not None
    worker, clock, delay = (run.services[:, FIELDS.index(x)] for x in ("worker", "clock", "delay"))
    pushed = np.cumsum(np.eye(spec.n, dtype=np.int64)[worker], axis=0)
    before = np.vstack((np.zeros((1, spec.n), dtype=np.int64), pushed))
    seen = np.empty_like(pushed)
    seen[clock * spec.n + worker] = before[np.arange(worker.size) - delay]
    return seen
