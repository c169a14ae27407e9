"""The algorithms as matrix recursions in NumPy: what a trial's run is, in a page.

X (S, n, d) holds the models of S seeds and n workers. Every recursion records the points y where
gradients were taken, the stochastic gradients g, and the virtual sequence v (S, T + 1, d), which
moves by the mean gradient alone: the mean model, or the model minus the mean memory.

mixed     X <- X - gam_t G(X);  every H steps X <- W X      BSP (W = J, H = 1), local SGD (W = J),
                                                            gossip (H = 1), pure gossip (gam = 0)
feedback  p_i = gam g_i(x) + e_i;  x <- x - mean C(p_i);  e_i <- p_i - C(p_i)
"""

from __future__ import annotations

import numpy as np

from theory.measured import Trajectory
from theory.mixing import matrix
from theory.testbed import Floats, NonConvex, Quadratic
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
    if real.T % real.H:
        raise ValueError(f"H={real.H} does not divide T={real.T}")
    if real.start == "apart":
        starts = np.stack([scattered(seed, real.n, oracle.d) for seed in range(real.seeds)])
        return _mixed(real, None, starts, np.zeros((real.seeds, real.T, real.n, oracle.d)))
    xi = draw(real, oracle.d, oracle.sigma2)
    if real.compressor != "identity":
        return _feedback(real, oracle, xi)
    starts = np.broadcast_to(oracle.x0, (real.seeds, real.n, oracle.d)).copy()
    return _mixed(real, oracle, starts, xi)


def scattered(seed: int, n: int, d: int) -> Floats:
    """Return n different starting points (n, d) for pure gossip."""
    return np.random.default_rng([seed, 1]).standard_normal((n, d))


def draw(trial: Trial, d: int, sigma2: float) -> Floats:
    """Return the noise of all gradients, (S, T, n, d), N(0, sigma2/d I)."""
    streams = 1 if trial.noise == "shared" else trial.n
    shape = (1 if trial.noise == "frozen" else trial.T, streams, d)
    rows = [np.random.default_rng([seed, 0]).standard_normal(shape) for seed in range(trial.seeds)]
    xi = np.sqrt(sigma2 / d) * np.stack(rows)
    return np.broadcast_to(xi, (trial.seeds, trial.T, trial.n, d))


def _mixed(trial: Trial, oracle: Quadratic | NonConvex | None, x: Floats, xi: Floats) -> Trajectory:
    w, steps = matrix(trial.topology, trial.n), trial.steps()
    y, g = np.empty(xi.shape), np.zeros(xi.shape)
    v = np.empty((len(x), trial.T + 1, x.shape[-1]))
    v[:, 0] = x.mean(axis=1)
    for t in range(trial.T):
        y[:, t] = x
        if oracle is not None:
            g[:, t] = oracle.gradients(x) + xi[:, t]
        x = x - steps[t] * g[:, t]
        if (t + 1) % trial.H == 0:
            x = w @ x
        v[:, t + 1] = x.mean(axis=1)
    return Trajectory(y, g, v)


def _feedback(trial: Trial, oracle: Quadratic | NonConvex, xi: Floats) -> Trajectory:
    steps = trial.steps()
    y, g = np.empty(xi.shape), np.empty(xi.shape)
    x = np.broadcast_to(oracle.x0, (trial.seeds, oracle.d)).copy()
    e = np.zeros((trial.seeds, trial.T + 1, trial.n, oracle.d))
    v = np.empty((trial.seeds, trial.T + 1, oracle.d))
    v[:, 0] = x
    for t in range(trial.T):
        y[:, t] = x[:, None]
        g[:, t] = oracle.gradients(y[:, t]) + xi[:, t]
        p = steps[t] * g[:, t] + e[:, t]
        sent = compress(trial.compressor, trial.k, p)
        if trial.memory:
            e[:, t + 1] = p - sent
        x = x - sent.mean(axis=1)
        v[:, t + 1] = x - e[:, t + 1].mean(axis=1)
    return Trajectory(y, g, v, e)


def compress(name: str, k: int, p: Floats) -> Floats:
    """Return C(p) of every row p (..., d): topk, or sign scaled by the mean magnitude.

    Raises
    ------
    ValueError
        If the compressor is unknown.
    """
    if name == "sign":
        scaled: Floats = np.abs(p).mean(axis=-1, keepdims=True) * np.where(p < 0, -1.0, 1.0)
        return scaled
    if name != "topk":
        raise ValueError(f"no compressor {name!r}")
    kept = np.argpartition(np.abs(p), -k, axis=-1)[..., -k:]
    sent = np.zeros_like(p)
    np.put_along_axis(sent, kept, np.take_along_axis(p, kept, axis=-1), axis=-1)
    return sent
