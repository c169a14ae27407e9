"""A server that takes in one gradient a step: x_{t+1} = x_t - gam g(x_{t - tau_t}).

`run` is the recursion of a trial, `second_moments` its exact moments on quadratics, where every
curvature a is for itself:

    x_{t+1} = x_t - gam (a x_{read_t} + xi_t),    x_t = m_t - gam sum_{s<t} K_{t,s} xi_s,
    m_{t+1} = m_t - gam a m_{read_t},             K_{t+1,.} = K_{t,.} - gam a K_{read_t,.} + e_t.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import sympy as sp

from theory.events import PACES, Ints, Schedule, schedule
from theory.measured import Trajectory
from theory.symbols import symbol
from theory.testbed import Base, Floats, Quadratic
from theory.trials import Trial

__all__ = ["THRESHOLD", "SecondMoments", "plans", "run", "second_moments"]

L, tau = symbol("L"), symbol("tau")

THRESHOLD = 2 * sp.sin(sp.pi / (2 * (2 * tau + 1))) / L
"""On quadratics a constant delay tau converges for steps below this, and diverges above.

x_{t+1} = x_t - gam L x_{t-tau} has the modes z^t, z^(tau+1) - z^tau + gam L = 0; the first of them
to leave the unit circle is z = exp(i pi / (2 tau + 1)), where |z - 1| = gam L.
"""


def plans(trial: Trial) -> list[Schedule]:
    """Return who is taken in when, for every seed of a trial that has a server."""
    if trial.staleness is None:
        raise ValueError(f"{trial.theorem} has no server")
    paces = (PACES[trial.pace](trial.n, seed) for seed in range(trial.seeds))
    return [schedule(trial.n, trial.T, trial.staleness, pace) for pace in paces]


def run(trial: Trial, oracle: Base, xi: Floats) -> Trajectory:
    """Return what all seeds do; xi (S, T, 1, d) is the noise."""
    planned = plans(trial)
    read = np.stack([plan.read for plan in planned])
    steps, seeds = trial.steps(), np.arange(trial.seeds)
    y, g = np.empty(xi.shape), np.empty(xi.shape)
    v = np.empty((trial.seeds, trial.T + 1, oracle.d))
    v[:, 0] = oracle.x0
    for t in range(trial.T):
        y[:, t, 0] = v[seeds, read[:, t]]
        g[:, t] = oracle.gradients(y[:, t]) + xi[:, t]
        v[:, t + 1] = v[:, t] - steps[t] * g[:, t, 0]
    return Trajectory(y, g, v, delays=np.stack([plan.delays for plan in planned]))


class SecondMoments(NamedTuple):
    """E x_t^2 and E (x_t - y_t)^2 by coordinate, (T + 1, d) and (T, d)."""

    squares: Floats
    missed: Floats


def second_moments(read: Ints, steps: Floats, oracle: Quadratic) -> SecondMoments:
    """Return the exact moments of one schedule, read (T,) and steps (T,), on a quadratic."""
    squares = np.empty((read.size + 1, oracle.d))
    missed = np.empty((read.size, oracle.d))
    for a in np.unique(oracle.a):
        where = oracle.a == a
        for x0 in np.unique(oracle.x0[where]):
            one = where & (oracle.x0 == x0)
            found = _mode(read, steps, float(a), float(x0), oracle.sigma2 / oracle.d)
            squares[:, one], missed[:, one] = (part[:, None] for part in found)
    return SecondMoments(squares, missed)


def _mode(read: Ints, steps: Floats, a: float, x0: float, variance: float) -> tuple[Floats, Floats]:
    """Return E x_t^2 (T + 1,) and E (x_t - y_t)^2 (T,) of one coordinate."""
    last = {int(r): t for t, r in enumerate(read)}  # when a row of K is needed for the last time
    m, k = np.empty(read.size + 1), {0: np.zeros(read.size)}
    m[0] = x0
    squares, missed = np.empty(m.size), np.empty(read.size)
    squares[0] = x0**2
    for t, (r, gam) in enumerate(zip(read.tolist(), steps, strict=True)):
        now, then = k[t], k[r]
        missed[t] = (m[t] - m[r]) ** 2 + variance * float(np.sum((now - then)[:t] ** 2))
        m[t + 1] = m[t] - gam * a * m[r]
        row = now - gam * a * then
        row[t] += gam
        k[t + 1] = row
        squares[t + 1] = m[t + 1] ** 2 + variance * float(row[: t + 1] @ row[: t + 1])
        for old in {t, r}:
            if last.get(old, -1) <= t:
                del k[old]
    return squares, missed
