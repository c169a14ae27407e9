"""Delays: what a gate allows, the recursion of one server, exact moments, and what breaks."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from theory.catalogue import THEOREMS
from theory.delayed import THRESHOLD, plans
from theory.descents import ENTRIES
from theory.events import PACES, Delays, ahead, largest_delay, schedule
from theory.measured import Trajectory, measure
from theory.moments import moments
from theory.recursions import simulate
from theory.stages import evaluate
from theory.symbols import symbol
from theory.trials import Trial
from theory.worst_cases import exact_ratios

SSP = Trial("ssp-nonconvex", "iso", n=4, T=300, gam=0.1, staleness=1)
ASP = Trial("asgd-nonconvex", "iso", n=7, T=300, gam=0.05, staleness=inf, pace="even")


def broken(trial: Trial, run: Trajectory, **values: float) -> dict[str, float]:
    claim = trial.values() | values
    stages = evaluate(trial.theorem, run, trial.oracle(), claim)
    return {stage.name: stage.ratio for stage in stages if not stage.ok}


# --- the counting lemma ---------------------------------------------------------------------------


@pytest.mark.parametrize("staleness", [0, 1, 2, 3])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_all_schedules_keep_the_gate_and_one_attains_it(n: int, staleness: int) -> None:
    if n == 4 and staleness > 1:
        pytest.skip("too many states")
    allowed = (2 * staleness + 1) * (n - 1)
    assert largest_delay(n, staleness) == allowed
    assert schedule(n, 200, staleness, ahead(staleness)).delays.max() == allowed


@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize(("n", "staleness"), [(2, 0), (2, 3), (4, 0), (4, 1), (4, 3), (8, 3)])
def test_random_schedules_keep_the_gate(n: int, staleness: int, pace: str) -> None:
    for seed in range(5):
        found = Delays.of(schedule(n, 1000, staleness, PACES[pace](n, seed)).delays)
        assert found.longest <= (2 * staleness + 1) * (n - 1)
        assert found.under_way <= n - 1
        assert found.mean <= found.under_way


@pytest.mark.parametrize("n", [4, 8])
def test_without_a_gate_a_slow_worker_is_far_too_old(n: int) -> None:
    """Negative control: and yet the mean delay is that of n equal workers."""
    found = Delays.of(schedule(n, 4000, inf, PACES["slow"](n, 0)).delays)
    assert found.longest > 5 * (2 * 1 + 1) * (n - 1)
    assert found.under_way == n - 1
    assert found.mean == pytest.approx(n - 1, rel=0.02)


def test_equal_workers_take_turns() -> None:
    """Round robin: everyone else comes in between, not everyone."""
    plan = schedule(5, 100, inf, PACES["even"](5, 0))
    np.testing.assert_array_equal(plan.worker, np.arange(100) % 5)
    assert set(plan.delays[4:]) == {4}


def test_a_worker_ahead_waits() -> None:
    plan = schedule(2, 50, 2, lambda worker, clock: 1.0 if worker == 0 else 10.0)
    pushed = np.stack([np.cumsum(plan.worker == worker) for worker in (0, 1)])
    assert (pushed[0] - pushed[1]).max() == 3


def test_delays_are_counted_both_ways() -> None:
    delays = np.array([0, 1, 0, 3, 1])
    inside = [[t - d <= s < t for s in range(5)] for t, d in enumerate(delays)]
    found = Delays.of(delays)
    assert found == Delays(3, int(np.sum(inside, axis=0).max()), 1.0)
    assert np.sum(inside) == delays.sum()


# --- exact ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("delay", [0, 1, 3, 10, 20])
def test_the_largest_stable_step(delay: int) -> None:
    limit = float(THRESHOLD.subs({symbol("tau"): delay, symbol("L"): 1}))
    for share, dies in ((0.98, True), (1.02, False)):
        modes = np.zeros(delay + 2)  # z^(tau + 1) - z^tau + gam L
        modes[:2] = 1, -1
        modes[-1] += share * limit
        assert bool(np.abs(np.roots(modes)).max() < 1) is dies


@pytest.mark.parametrize("delay", [0, 1, 3, 10])
def test_runs_converge_below_the_largest_stable_step_alone(delay: int) -> None:
    limit = float(THRESHOLD.subs({symbol("tau"): delay, symbol("L"): 1}))
    trial = replace(ASP, n=delay + 1, T=3000, options={"sigma2": 0.0, "d": 1})
    for share, dies in ((0.98, True), (1.02, False)):
        dist = moments(replace(trial, gam=share * limit)).dist
        assert bool(dist[-1] < dist[0]) is dies


@pytest.mark.parametrize("trial", [SSP, replace(ASP, problem="spec")], ids=["ssp", "asp"])
def test_moments_are_those_of_many_runs(trial: Trial) -> None:
    """Schedules of "even" workers are alike for all seeds; those of others are not."""
    trial = replace(trial, T=60, seeds=400, pace="even", options={"radius": 2.0})
    exact, many = moments(trial), measure(simulate(trial), trial.steps(), trial.oracle())
    np.testing.assert_allclose(many.error.mean(axis=0)[1:], exact.dist[1:], rtol=0.2)
    np.testing.assert_allclose(many.spread.mean(axis=0)[5:], exact.spread[5:], rtol=0.3)
    assert many.spread.mean() == pytest.approx(exact.spread.mean(), rel=0.03)


@pytest.mark.parametrize("delay", [1, 3, 7, 20])
@pytest.mark.parametrize("sigma2", [0.0, 0.1, 10.0])
def test_bound_and_lemma_hold_exactly(delay: int, sigma2: float) -> None:
    """At the largest step that the theorem allows, for every T."""
    gam = (np.sqrt(1 + 8 * delay**2) - 1) / (4 * delay**2)
    trial = replace(ASP, n=delay + 1, gam=gam, options={"sigma2": sigma2})
    ratios = exact_ratios(trial)
    assert ratios.max() <= 1
    assert ratios.max() > 0.3, "the bound says something"
    found, (plan,) = moments(trial), plans(replace(trial, seeds=1))
    missed, slope = found.spread[:-1].mean(), found.gradsq[plan.read].mean()
    assert missed <= 2 * gam**2 * delay * (delay * slope + sigma2)


# --- what breaks ----------------------------------------------------------------------------------


def test_understated_delays_diverge_and_are_seen() -> None:
    """gam L = 0.5 is right for one step of delay; with 20 the run explodes."""
    claimed = replace(ASP, n=2, gam=0.5)
    assert not broken(claimed, simulate(claimed))
    real = replace(claimed, n=21)
    found = broken(claimed, simulate(real))
    assert {"delays", "perturbation", "bound"} <= set(found)
    assert found["delays"] == 20
    assert found["bound"] > 1e15


def test_the_bound_without_delays_is_broken_by_noise_alone() -> None:
    trial = Trial(
        "bsp-nonconvex", "iso", 1, 2000, 0.05, {"radius": 0.0}, staleness=inf, pace="even"
    )
    assert not broken(trial, simulate(trial))
    found = broken(trial, simulate(replace(trial, n=21)))
    assert found["bound"] > 2
    assert found["perturbation"] == inf


def test_a_torn_read_is_seen() -> None:
    """Half of the model is one step older than the other half."""
    run = simulate(SSP)
    assert not broken(SSP, run)
    assert run.delays is not None
    y = run.y.copy()
    y[:, 1:, 0, :5] = run.v[:, :-2, :5]
    assert set(broken(SSP, replace(run, y=y))) >= {"reads"}


def test_unrecorded_delays_do_not_pass() -> None:
    run = replace(simulate(SSP), delays=None)
    assert set(broken(SSP, run)) == {"delays"}


def test_delays_must_fit() -> None:
    run = simulate(SSP)
    assert run.delays is not None
    with pytest.raises(ValueError, match="delays"):
        broken(SSP, replace(run, delays=run.delays[:, 1:]))


def test_a_schedule_needs_a_server() -> None:
    with pytest.raises(ValueError, match="no server"):
        plans(replace(SSP, staleness=None))


@pytest.mark.parametrize("name", ["asgd-nonconvex", "ssp-nonconvex"])
def test_no_workers_no_delay(name: str) -> None:
    """One worker alone is plain SGD, and the bound is that of BSP at n = 1, without 2 - gam L."""
    trial = replace(SSP, theorem=name, n=1)
    run = simulate(trial)
    assert run.delays is not None
    assert not run.delays.any()
    values = trial.values()
    assert THEOREMS[name].at(**values) >= THEOREMS["bsp-nonconvex"].at(**values)
    assert "delays" in ENTRIES[name].stages
