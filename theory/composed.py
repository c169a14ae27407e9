"""The recursion with everything in it: momenta, delays, memories, graphs that change.

    y_i = x_i of `late` steps before;  m_i <- mom m_i + g_i(y_i);  x_i <- x_i - gam m_i

and where workers exchange, every step in the beginning (`after`), then every H steps,

    x_i <- sum_j W_ij x_j,  or with a compressor and s_i the model after the exchange before
    p_i = s_i - x_i + e_i;  x_i <- sum_j W_ij (s_j - C(p_j));  e_i <- p_i - C(p_i).

v = mean x - mean e - gam mom/(1 - mom) mean m, which moves by -gam/(1 - mom) mean g.
"""

from __future__ import annotations

import numpy as np

from theory.compressed import compress, lottery
from theory.measured import Trajectory
from theory.testbed import Base, Floats
from theory.trials import Trial
from theory.turns import TURNS, cycle

__all__ = ["exchanges", "needed", "run"]


def needed(trial: Trial) -> bool:
    """Whether a trial has something in it that plainer recursions have not."""
    rounds = trial.compressor != "identity" and (trial.H > 1 or trial.topology != "complete")
    return bool(trial.mom or trial.after or trial.late or trial.topology in TURNS or rounds)


def exchanges(trial: Trial) -> list[int]:
    """Return the steps after which workers exchange.

    Raises
    ------
    ValueError
        If H does not divide the steps that workers make alone.
    """
    if (trial.T - trial.after) % trial.H:
        raise ValueError(f"H={trial.H} does not divide T={trial.T} - {trial.after}")
    alone = range(trial.after + trial.H - 1, trial.T, trial.H)
    return [*range(trial.after), *alone]


def run(trial: Trial, oracle: Base, xi: Floats) -> Trajectory:
    """Return what all seeds do; xi (S, T, n, ...) is all that is random."""
    steps, u = trial.steps(), lottery(trial, oracle.d)
    turn = cycle(trial.topology, trial.n)
    number = {step: place for place, step in enumerate(exchanges(trial))}
    shape = (trial.seeds, trial.T, trial.n, oracle.d)
    y, g, v = np.empty(shape), np.empty(shape), np.empty((trial.seeds, trial.T + 1, oracle.d))
    past = np.empty((trial.T + 1, trial.seeds, trial.n, oracle.d))
    v[:, 0] = past[0] = oracle.x0
    x, m, e = past[0].copy(), np.zeros_like(past[0]), np.zeros_like(past[0])
    agreed = x
    for t in range(trial.T):
        y[:, t] = past[max(t - trial.late, 0)]
        g[:, t] = oracle.stochastic(y[:, t], xi[:, t])
        m = trial.mom * m + g[:, t]
        x = x - steps[t] * m
        if t in number:
            if trial.compressor != "identity":
                p = agreed - x + e
                said = compress(trial.compressor, trial.k, p, u[:, t])
                x, e = agreed - said, p - said if trial.memory else e
            agreed = x = turn[number[t] % len(turn)] @ x
        past[t + 1] = x
        ahead = steps[t] * trial.mom / (1 - trial.mom) * m
        v[:, t + 1] = (x - e - ahead).mean(axis=1)
    return Trajectory(y, g, v)
