"""Momentum: exact moments, where the bound is sharp, and what a forgotten 1/(1 - mom) costs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from theory.catalogue import THEOREMS
from theory.evaluation import Evaluated
from theory.measured import measure
from theory.moments import linear, moments
from theory.recursions import simulate
from theory.trials import Trial
from theory.worst_cases import exact_ratios

NAME = "momentum-nonconvex"
HALF = Trial(NAME, "iso", n=8, T=100, gam=0.05, mom=0.5)


def longest(mom: float, share: float) -> float:
    """The step at which `share` of the condition is used, L = 1."""
    c = 2 * mom**2 / (1 - mom) ** 2
    eta = share if c == 0 else (np.sqrt(1 + 4 * c * share) - 1) / (2 * c)
    return float(eta * (1 - mom))


@pytest.mark.parametrize("problem", ["iso", "spec", "het"])
def test_moments_are_those_of_many_runs(problem: str) -> None:
    trial = replace(HALF, problem=problem, seeds=400, n=4)
    exact, run = moments(trial), simulate(trial)
    many = measure(run, np.full(trial.T, trial.gam), trial.oracle())
    x = run.y[:, :, 0]
    np.testing.assert_allclose((x**2).sum(axis=-1).mean(axis=0), exact.dist[:-1], rtol=0.3)
    assert many.mean_gradient.mean() == pytest.approx(exact.gradsq[:-1].mean(), rel=0.03)
    assert many.spread.mean() == pytest.approx(exact.spread[:-1].mean(), rel=0.03)


@pytest.mark.parametrize("mom", [0.0, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("share", [0.1, 0.5])
@pytest.mark.parametrize("sigma2", [0.0, 1.0])
def test_bound_and_lemma_hold_exactly(mom: float, share: float, sigma2: float) -> None:
    """For every T, with the ratio that a descent by |g|^2 alone leaves."""
    options = {"sigma2": sigma2}
    trial = replace(HALF, T=800, gam=longest(mom, share), mom=mom, options=options)
    ratios, found = exact_ratios(trial), moments(trial)
    assert 0.25 < ratios.max() < 0.6
    eta = trial.gam / (1 - mom)
    drift, noise = found.gradsq[:-1].mean() / (1 - mom) ** 2, sigma2 / (trial.n * (1 - mom**2))
    assert found.spread[:-1].mean() <= 2 * (eta * mom) ** 2 * (drift + noise) + 1e-15


def test_a_momentum_that_is_not_seen_breaks_the_bound_of_plain_sgd() -> None:
    """Negative control, noise alone: the step is gam / (1 - mom), ten times what is claimed."""
    run = replace(HALF, T=20000, gam=0.001, mom=0.9, options={"radius": 0.0})
    exact = moments(run).gradsq[:-1].mean()
    claims = run.values()
    assert 9 < exact / THEOREMS["bsp-nonconvex"].at(**claims) < 10
    assert 0.3 < exact / THEOREMS[NAME].at(**claims) < 0.6


def test_workers_speed_up_the_tuned_bound() -> None:
    tuned = THEOREMS[NAME].tuned
    assert tuned is not None
    value = Evaluated(NAME, tuned.value)
    one, many = (value(HALF.values() | {"T": 1e8, "n": n}) for n in (1, 16))
    assert one / many == pytest.approx(4, rel=0.01)


def test_only_one_model_with_one_momentum_has_these_moments() -> None:
    assert linear(HALF)
    for change in ({"H": 4}, {"topology": "ring"}, {"late": 2}, {"noise": "shared"}):
        assert not linear(replace(HALF, **change))
