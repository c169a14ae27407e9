"""Exact moments of SGD along one momentum on quadratics, where coordinates do not meet.

m' = mom m + a x + xi, x' = x - gam m', xi the mean noise of n workers: of a coordinate of curvature
a both have means u and covariances C, two by two,

    u <- M u,   C <- M C M' + (sigma2 / (n d)) b b',   M = [[1 - gam a, -gam mom], [a, mom]],

b = (-gam, 1). The distance to v = x - eta mom m is eta mom |m|.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from theory.testbed import Floats, Quadratic
from theory.trials import Trial

__all__ = ["Squares", "heavy", "second_moments"]


class Squares(NamedTuple):
    """E x_t^2 by coordinate, and E |x_t - v_t|^2: (T + 1, d) and (T + 1,)."""

    model: Floats
    ahead: Floats


def heavy(trial: Trial) -> bool:
    """Whether all workers have one model and one momentum."""
    one = trial.H == 1 and (trial.topology, trial.compressor) == ("complete", "identity")
    alone = trial.noise == "own" and trial.staleness is None and not trial.late
    return bool(trial.mom and one and alone)


def second_moments(trial: Trial, oracle: Quadratic) -> Squares:
    """Return the moments of a trial with momentum; shifts add up to zero, so no mean sees them."""
    gam, mom, a = trial.gam, trial.mom, oracle.a
    move = np.empty((oracle.d, 2, 2))
    move[:, 0, 0], move[:, 0, 1] = 1 - gam * a, -gam * mom
    move[:, 1, 0], move[:, 1, 1] = a, mom
    noise = oracle.sigma2 / (trial.n * oracle.d) * np.outer((-gam, 1), (-gam, 1))
    second = np.zeros((oracle.d, 2, 2))  # of (x, m) about zero: the mean's square and C
    second[:, 0, 0] = oracle.x0**2
    found = np.empty((trial.T + 1, oracle.d, 2))
    for t in range(trial.T + 1):
        found[t] = np.diagonal(second, axis1=1, axis2=2)
        second = move @ second @ move.transpose(0, 2, 1) + noise
    ahead = (gam * mom / (1 - mom)) ** 2 * found[:, :, 1].sum(axis=1)
    return Squares(found[:, :, 0], ahead)
