"""One worker steps, then two neighbours average: both are drawn at every step.

x_i <- x_i - gam g_i(x_i) for a worker i, then x_j, x_k <- (x_j + x_k)/2 for an edge (j, k). What is
recorded as g is n g_i for the worker i, and 0 for the others: the mean model moves by -gam/n times
its mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.events import chances
from theory.measured import Trajectory
from theory.meetings import edges, meet
from theory.testbed import Base
from theory.trials import Trial

__all__ = ["run"]


def run(trial: Trial, oracle: Base, drawn: NDArray[Any]) -> Trajectory:
    """Return what all seeds do; drawn (S, T, n, ...) is all that is random in the gradients."""
    pairs, n, seeds = edges(trial.topology, trial.n), trial.n, np.arange(trial.seeds)
    streams = [np.random.default_rng([seed, 3]) for seed in range(trial.seeds)]
    turns = np.stack([s.choice(n, trial.T, p=chances(n, trial.pace)) for s in streams])
    meetings = [s.integers(max(1, len(pairs)), size=trial.T) for s in streams]
    met = pairs[np.stack(meetings)] if len(pairs) else None
    y, v = (
        np.empty((trial.seeds, trial.T, n, oracle.d)),
        np.empty((trial.seeds, trial.T + 1, oracle.d)),
    )
    g = np.zeros(y.shape)
    x = np.broadcast_to(oracle.x0, y[:, 0].shape).copy()
    v[:, 0] = oracle.x0
    for t in range(trial.T):
        y[:, t] = x
        who = turns[:, t]
        g[seeds, t, who] = n * oracle.stochastic(x, drawn[:, t])[seeds, who]
        x = x - trial.gam / n * g[:, t]
        if met is not None:
            meet(x, met[:, t])
        v[:, t + 1] = x.mean(axis=1)
    return Trajectory(y, g, v)
