"""The algorithms as matrix recursions in NumPy: what a trial's run is, in a page.

X (S, n, d) holds the models of S seeds and n workers. Every recursion records the points y where
gradients were taken, the stochastic gradients g, and the virtual sequence v (S, T + 1, d), which
moves by the mean gradient alone: the mean model, or the model minus the mean memory.

mixed     X <- X - gam_t G(X);  every H steps X <- W X      BSP (W = J, H = 1), local SGD (W = J),
                                                            gossip (H = 1), pure gossip (gam = 0)
cta       X <- W X - gam_t G(X)                             gossip that combines, then adapts
server    x_{t+1} = x_t - gam g(x_{t - tau_t}), one gradient a step: `theory.delayed`
said      x <- x - gam mean c_i, c_i what is said of g_i: `theory.compressed`
pairs     one worker steps, then two neighbours average: `theory.pairwise`
remember  D2, gradient tracking: what workers differ by is taken off: `theory.remembering`
share     x <- P x, w <- P w, y = x / w: push-sum, `theory.sharing`
views     x <- x - gam_t g(y_t), y_t what a worker has seen: `theory.views`
composed  momenta, delays, graphs that change, memories over rounds: `theory.composed`
feedback  p_i = gam g_i(x) + e_i;  x <- x - mean C(p_i);  e_i <- p_i - C(p_i)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory import composed, compressed, delayed, pairwise, remembering, sharing, views
from theory.compressed import compress
from theory.measured import Trajectory
from theory.testbed import Base, Floats
from theory.trials import Trial

__all__ = ["compress", "draw", "scattered", "simulate"]


def simulate(trial: Trial) -> Trajectory:
    """Run what the trial really runs, all seeds at once.

    Raises
    ------
    ValueError
        If H does not divide T.
    """
    real = trial.real()
    oracle = real.oracle()
    if composed.needed(real):
        return composed.run(real, oracle, draw(real, oracle))
    if real.T % real.H:
        raise ValueError(f"H={real.H} does not divide T={real.T}")
    if real.start == "apart":
        starts = np.stack([scattered(seed, real.n, oracle.d) for seed in range(real.seeds)])
        if real.order == "share":
            return sharing.run(real, starts)
        return _mixed(real, None, starts, np.zeros((real.seeds, real.T, real.n, oracle.d)))
    if real.falling is not None:
        return views.run(real, oracle, draw(replace(real, n=1), oracle))
    if real.staleness is not None:
        return delayed.run(real, oracle, draw(replace(real, n=1), oracle))
    xi = draw(real, oracle)
    if real.order in remembering.ORDERS:
        return remembering.run(real, oracle, xi)
    if real.order == "pairs":
        return pairwise.run(real, oracle, xi)
    if real.compressor != "identity":
        kept = real.memory and not real.refers
        return _feedback(real, oracle, xi) if kept else compressed.run(real, oracle, xi)
    starts = np.broadcast_to(oracle.x0, (real.seeds, real.n, oracle.d)).copy()
    return _mixed(real, oracle, starts, xi)


def scattered(seed: int, n: int, d: int) -> Floats:
    """Return n different starting points (n, d) for pure gossip."""
    return np.random.default_rng([seed, 1]).standard_normal((n, d))


def draw(trial: Trial, oracle: Base) -> NDArray[Any]:
    """Return all that is random in the gradients, (S, T, n, ...): noise, or the samples drawn."""
    steps = 1 if trial.noise == "frozen" else trial.T
    workers = 1 if trial.noise == "shared" else trial.n
    seeds = (np.random.default_rng([seed, 0]) for seed in range(trial.seeds))
    drawn = np.stack([oracle.draws(rng, steps, workers) for rng in seeds])
    return np.broadcast_to(drawn, (trial.seeds, trial.T, trial.n, *drawn.shape[3:]))


def _mixed(trial: Trial, oracle: Base | None, x: Floats, drawn: NDArray[Any]) -> Trajectory:
    w, steps = sharing.shares(trial.topology, trial.n), trial.steps()
    seeds, n, d = x.shape
    y, g = np.empty((seeds, trial.T, n, d)), np.zeros((seeds, trial.T, n, d))
    v = np.empty((seeds, trial.T + 1, d))
    v[:, 0] = x.mean(axis=1)
    for t in range(trial.T):
        y[:, t] = x
        if oracle is not None:
            g[:, t] = oracle.stochastic(x, drawn[:, t])
        mixes = (t + 1) % trial.H == 0
        if mixes and trial.order == "cta":
            x = w @ x - steps[t] * g[:, t]
        else:
            x = x - steps[t] * g[:, t]
            x = w @ x if mixes else x
        v[:, t + 1] = x.mean(axis=1)
    return Trajectory(y, g, v)


def _feedback(trial: Trial, oracle: Base, xi: Floats) -> Trajectory:
    steps = trial.steps()
    y, g = np.empty(xi.shape), np.empty(xi.shape)
    x = np.broadcast_to(oracle.x0, (trial.seeds, oracle.d)).copy()
    e = np.zeros((trial.seeds, trial.T + 1, trial.n, oracle.d))
    v = np.empty((trial.seeds, trial.T + 1, oracle.d))
    v[:, 0] = x
    for t in range(trial.T):
        y[:, t] = x[:, None]
        g[:, t] = oracle.stochastic(y[:, t], xi[:, t])
        p = steps[t] * g[:, t] + e[:, t]
        sent = compress(trial.compressor, trial.k, p)
        e[:, t + 1] = p - sent
        x = x - sent.mean(axis=1)
        v[:, t + 1] = x - e[:, t + 1].mean(axis=1)
    return Trajectory(y, g, v, e)
