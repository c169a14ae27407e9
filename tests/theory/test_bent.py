"""Exact moments of local SGD on functions that bend differently, against plain simulation."""

from __future__ import annotations

import numpy as np
import pytest

from theory.bent import Bent
from theory.moments import moments
from theory.trials import Trial

SEEDS, D = 4000, 3


def simulated(bent: Bent, H: int, T: int, gam: float) -> np.ndarray:
    """Return the mean models of many seeds at t = 0 .. T, (T + 1, S, d); u is the first axis."""
    rng = np.random.default_rng(5)
    a, shift = 1 + bent.bend * bent.c, np.sqrt(bent.zeta2) * bent.c
    x = np.zeros((SEEDS, bent.n, D))
    means = [x.mean(axis=1)]
    for t in range(T):
        g = a[:, None] * x + np.sqrt(bent.sigma2 / D) * rng.standard_normal(x.shape)
        g[:, :, 0] += shift
        x = x - gam * g
        if (t + 1) % H == 0:
            x[...] = x.mean(axis=1, keepdims=True)
        means.append(x.mean(axis=1))
    return np.array(means)


@pytest.mark.parametrize(("n", "H", "gam"), [(2, 4, 0.2), (3, 6, 0.3), (5, 1, 0.5)])
def test_mean_and_variance_are_those_of_many_runs(n, H, gam):
    bent = Bent(n, bend=0.5, zeta2=4.0, sigma2=2.0)
    means = simulated(bent, H, 12, gam)
    mean, variance = bent.moments(H, 12, gam)
    error = 4 * np.sqrt(variance / SEEDS)
    assert np.all(abs(means[:, :, 0].mean(axis=1) - mean) <= error + 1e-12)
    assert np.all(abs(means[:, :, 1].mean(axis=1)) <= error + 1e-12)
    assert means.var(axis=1).sum(axis=1)[1:] == pytest.approx(variance[1:], rel=0.1)


def test_functions_that_bend_alike_leave_the_mean_model_what_it_is():
    known = moments(
        Trial("local-sgd-nonconvex", "iso", 4, 24, 0.2, H=8, options={"radius": 0.0, "zeta2": 3.0})
    )
    mean, variance = Bent(4, bend=0.0, zeta2=3.0, sigma2=1.0).moments(8, 24, 0.2)
    assert mean == pytest.approx(np.zeros(25), abs=1e-15)
    assert variance == pytest.approx(known.dist)


def test_after_every_step_the_mean_model_is_unbiased_and_later_it_is_not():
    bent = Bent(4, bend=0.5, zeta2=1.0, sigma2=1.0)
    alone, rounds = bent.moments(1, 64, 0.1)[0], bent.moments(8, 64, 0.1)[0]
    assert alone == pytest.approx(np.zeros(65), abs=1e-15)
    assert rounds[-1] == pytest.approx(0.1 * 7 * 0.5 / 2, rel=0.3)


def test_disagreement_is_that_of_the_functions_at_the_mean_model():
    bent = Bent(6, bend=0.4, zeta2=2.0, sigma2=0.0)
    mean, variance = bent.moments(4, 8, 0.3)
    slopes = [bent.bend * bent.c * m + np.sqrt(bent.zeta2) * bent.c for m in mean]
    assert bent.disagreement(mean, variance) == pytest.approx(max(np.mean(g**2) for g in slopes))
