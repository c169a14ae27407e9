"""Exact moments: they agree with simulation, and bounds hold for every T without noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from theory.catalogue import THEOREMS
from theory.mixing import matrix
from theory.moments import linear, moments
from theory.recursions import simulate
from theory.statistics import mean
from theory.testbed import Quadratic
from theory.trials import TRIALS, Trial
from theory.worst_cases import exact_ratios

LINEAR = [trial for trial in TRIALS if trial.control is None and linear(trial)]
HET = Trial("dpsgd-nonconvex-atc", "het", 8, 60, 0.2, topology="ring", seeds=400)


def label(trial: Trial) -> str:
    return f"{trial.theorem} {trial.problem}"


@pytest.mark.parametrize("trial", LINEAR, ids=label)
def test_bounds_hold_for_every_T(trial: Trial) -> None:
    assert exact_ratios(trial).max() <= 1 + 1e-9


@pytest.mark.parametrize(
    "trial",
    [t for t in LINEAR if t.theorem.startswith("bsp") and THEOREMS[t.theorem].attained],
    ids=label,
)
def test_one_noise_for_all_breaks_them(trial: Trial) -> None:
    """Negative control: the same comparison, with workers that draw the same noise."""
    assert exact_ratios(replace(trial, noise="shared")).max() > 1.5


@pytest.mark.parametrize("H", [1, 5])
@pytest.mark.parametrize("noise", ["own", "shared"])
@pytest.mark.parametrize("topology", ["complete", "ring", "alone"])
def test_simulation_agrees(topology: str, noise: str, H: int) -> None:
    trial = replace(HET, topology=topology, noise=noise, H=H)
    exact, run, oracle = moments(trial), simulate(trial), trial.oracle()
    for t in (1, H, 29, 59):
        xbar = run.v[:, t]
        spread = ((run.y[:, t] - xbar[:, None]) ** 2).sum(axis=-1).mean(axis=-1)
        seen = {
            "gradsq": (oracle.gradient(xbar) ** 2).sum(axis=-1),
            "gap": oracle.value(xbar),
            "dist": (xbar**2).sum(axis=-1),
            "spread": spread,
        }
        for name, samples in seen.items():
            estimate = mean(samples, coverage=0.9999)
            slack = 1e-12 * (1 + abs(estimate.value))
            value = getattr(exact, name)[t]
            assert estimate.low - slack <= value <= estimate.high + slack, (name, t)


def test_the_full_covariance_agrees() -> None:
    """The same moments from means (n,) and covariances (n, n), with nothing diagonalised."""
    trial = replace(HET, H=3)
    oracle, w, exact = trial.oracle(), matrix("ring", 8), moments(trial)
    assert isinstance(oracle, Quadratic)
    mean_, covariance = np.repeat(oracle.x0[:, None], 8, axis=1), np.zeros((10, 8, 8))
    for t in range(trial.T):
        shrink = 1 - trial.gam * oracle.a
        mixing = w if (t + 1) % trial.H == 0 else np.eye(8)
        mean_ = (shrink[:, None] * mean_ - trial.gam * oracle.s.T) @ mixing.T
        fresh = trial.gam**2 * oracle.sigma2 / oracle.d * np.eye(8)
        covariance = mixing @ (shrink[:, None, None] ** 2 * covariance + fresh) @ mixing.T
    second = covariance + mean_[:, :, None] * mean_[:, None, :]
    centre = np.eye(8) - 1 / 8
    assert exact.dist[-1] == pytest.approx(second.mean(axis=(1, 2)).sum())
    apart = np.trace(centre @ second @ centre, axis1=1, axis2=2).sum() / 8
    assert exact.spread[-1] == pytest.approx(apart)


def test_stationary_spread_of_gossip() -> None:
    """D_inf = (gam^2 sigma2 / n) sum over modes of l^2 / (1 - l^2 (1 - gam a)^2), all a equal."""
    trial = Trial("dpsgd-nonconvex-atc", "iso", 8, 2000, 0.1, topology="ring")
    modes = np.sort(np.linalg.eigvalsh(matrix("ring", 8)))[:-1]
    expected = 0.1**2 / 8 * np.sum(modes**2 / (1 - modes**2 * 0.9**2))
    assert moments(trial).spread[-1] == pytest.approx(expected, rel=1e-12)


def test_stationary_spread_of_gossip_that_combines_first() -> None:
    """D_inf = (gam^2 sigma2 / n) sum over modes of 1 / (1 - (l - gam a)^2), all a equal."""
    cta = Trial("dpsgd-nonconvex-cta", "iso", 8, 2000, 0.1, topology="ring", order="cta")
    modes = np.sort(np.linalg.eigvalsh(matrix("ring", 8)))[:-1]
    expected = 0.1**2 / 8 * np.sum(1 / (1 - (modes - 0.1) ** 2))
    assert moments(cta).spread[-1] == pytest.approx(expected, rel=1e-12)


def test_simulation_of_combine_first_agrees() -> None:
    trial = replace(HET, theorem="dpsgd-nonconvex-cta", order="cta", seeds=200)
    exact, run = moments(trial), simulate(trial)
    for t in (1, 30, 59):
        apart = ((run.y[:, t] - run.v[:, t, None]) ** 2).sum(axis=-1).mean(axis=-1)
        estimate = mean(apart, coverage=0.9999)
        assert estimate.low * (1 - 1e-12) <= exact.spread[t] <= estimate.high * (1 + 1e-12)


@pytest.mark.parametrize("n", [1, 4])
def test_moments_of_sampled_rows_agree(n: int) -> None:
    options = {"samples": 20, "spectrum": (0.5, 1.0)}
    trial = Trial("bsp-sc-sampling", "least_squares", n, 40, 0.1, options, seeds=2000)
    exact, run, oracle = moments(trial), simulate(trial), trial.oracle()
    for t in (0, 1, 20, 40):
        seen = {
            "dist": ((run.v[:, t] - oracle.optimum) ** 2).sum(axis=-1),
            "gap": oracle.value(run.v[:, t]) - oracle.f_star,
            "gradsq": (oracle.gradient(run.v[:, t]) ** 2).sum(axis=-1),
        }
        for name, samples in seen.items():
            estimate = mean(samples, coverage=0.9999)
            value = getattr(exact, name)[t]
            assert estimate.low - 1e-9 <= value <= estimate.high + 1e-9, (name, t)


def test_perturbation_lemmas_hold_and_say_something() -> None:
    """P against the lemmas, at heterogeneity along the slow mode; slow runs show the loss."""
    for gam, least in ((0.002, 0.8), (0.05, 0.3)):
        trial = replace(HET, T=4000, gam=gam, options={"sigma2": 0.0})
        bound = THEOREMS[trial.theorem].perturbation_at(**trial.values())
        assert least < moments(trial).spread.max() / bound <= 1 + 1e-9
    for gam, least in ((0.002, 0.8), (0.05, 0.25)):
        cta = replace(HET, theorem="dpsgd-nonconvex-cta", order="cta", T=4000, gam=gam)
        cta = replace(cta, options={"sigma2": 0.0})
        bound = THEOREMS[cta.theorem].perturbation_at(**cta.values())
        assert least < moments(cta).spread.max() / bound <= 1 + 1e-9
    local = Trial("local-sgd-nonconvex", "spec", 8, 400, 0.02, {"zeta2": 1.0}, H=4)
    bound = THEOREMS[local.theorem].perturbation_at(**local.values())
    assert 0.5 < moments(local).spread[:-1].mean() / bound <= 1 + 1e-9
    flat = Trial("local-sgd-convex-iid", "spec", 8, 400, 0.02, {"spectrum": (1e-4, 1e-3)}, H=4)
    bound = THEOREMS[flat.theorem].perturbation_at(**flat.values())
    assert 0.99 < moments(flat).spread[:-1].mean() / bound <= 1 + 1e-9


def test_what_is_not_linear_is_refused() -> None:
    for change in ({"problem": "nc"}, {"compressor": "sign"}, {"topology": "lopsided"}):
        assert not linear(replace(HET, **change))
        with pytest.raises(ValueError, match="no exact moments"):
            moments(replace(HET, **change))
