"""Workers that see views of a model: their own updates, and those of others as far as they know.

Update t = c n + p is worker p's of clock c, and moves the model by -gam_t g_t(y_t). The view y_t
has in it the first k clocks of every worker q, k = `seen[t, q]`; x_t has all updates before t, the
first c + (q < p) of every q. Updates between the two are in the wrong place in this view.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from theory.events import PACES, Ints, schedule
from theory.measured import Trajectory
from theory.testbed import Base

if TYPE_CHECKING:
    from theory.trials import Trial

__all__ = ["Views", "cached", "misplaced", "observed", "run", "served"]


class Views(NamedTuple):
    """Updates in an order in which they may be made, (T,), and how much each sees, (T, n)."""

    order: Ints
    seen: Ints


def served(n: int, clocks: int, staleness: float, pace: str, seed: int) -> Views:
    """Return the views of workers that read a server's model, which takes in updates as they come.

    Every worker ends after its last clock.
    """
    plan = schedule(n, n * clocks, staleness, PACES[pace](n, seed), clocks)
    pushed = np.cumsum(np.eye(n, dtype=np.int64)[plan.worker], axis=0)
    before = np.vstack((np.zeros((1, n), dtype=np.int64), pushed))
    clock = pushed[np.arange(n * clocks), plan.worker] - 1
    order = clock * n + plan.worker
    seen = np.empty_like(pushed)
    seen[order] = before[plan.read]
    return Views(order, seen)


def cached(n: int, clocks: int, staleness: float) -> Views:
    """Return the oldest views allowed: what all have pushed s clocks ago, and the worker's own."""
    clock, worker = np.divmod(np.arange(n * clocks), n)
    seen = np.repeat(np.maximum(clock - staleness, 0)[:, None], n, axis=1).astype(np.int64)
    seen[np.arange(n * clocks), worker] = clock
    return Views(np.arange(n * clocks), seen)


def observed(trial: Trial) -> list[Views]:
    """Return the views of all seeds of a trial.

    Raises
    ------
    ValueError
        If its workers cannot all make the same number of clocks, or share no model.
    """
    if trial.staleness is None or trial.T % trial.n:
        raise ValueError(f"{trial.theorem}: {trial.n} workers cannot share {trial.T} steps")
    clocks, s = trial.T // trial.n, trial.staleness
    if trial.pace == "oldest":
        return [cached(trial.n, clocks, s)] * trial.seeds
    return [served(trial.n, clocks, s, trial.pace, seed) for seed in range(trial.seeds)]


def misplaced(seen: Ints) -> int:
    """Return in how many views an update is in the wrong place, at most; seen is (T, n)."""
    steps, n = seen.shape
    clock, worker = np.divmod(np.arange(steps), n)
    fixed = clock[:, None] + (np.arange(n) < worker[:, None])
    ends = np.zeros((n, steps // n + 1), dtype=np.int64)
    np.add.at(ends, (np.arange(n), np.minimum(fixed, seen)), 1)
    np.add.at(ends, (np.arange(n), np.maximum(fixed, seen)), -1)
    return int(np.cumsum(ends, axis=1).max())


def run(trial: Trial, oracle: Base, drawn: NDArray[Any]) -> Trajectory:
    """Return what all seeds do, by the number of the update; drawn (S, T, 1, ...) is random."""
    found, n, steps = observed(trial), trial.n, trial.steps()
    order, seen = (np.stack(part) for part in zip(*found, strict=True))
    seeds, workers = np.arange(trial.seeds), np.arange(n)
    moved = np.zeros((trial.seeds, n, trial.T // n + 1, oracle.d))  # by a worker's first clocks
    y = np.empty((trial.seeds, trial.T, 1, oracle.d))
    g = np.empty_like(y)
    for now in order.T:
        view = moved[seeds[:, None], workers, seen[seeds, now]].sum(axis=1)
        y[seeds, now, 0] = oracle.x0 - view
        g[seeds, now] = oracle.stochastic(y[seeds, now], drawn[seeds, now])
        clock, worker = np.divmod(now, n)
        step = steps[now, None] * g[seeds, now, 0]
        moved[seeds, worker, clock + 1] = moved[seeds, worker, clock] + step
    v = np.empty((trial.seeds, trial.T + 1, oracle.d))
    v[:, 0] = oracle.x0
    v[:, 1:] = oracle.x0 - np.cumsum(steps[:, None] * g[:, :, 0], axis=1)
    return Trajectory(y, g, v, misplaced=np.array([misplaced(one) for one in seen]))
