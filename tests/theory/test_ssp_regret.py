"""Views of a shared model: which may be seen, what they cost, and views that are too old."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

from theory.catalogue import THEOREMS
from theory.catalogue.ssp_regret import M, N
from theory.descents import ENTRIES
from theory.events import PACES
from theory.measured import measure
from theory.recursions import simulate
from theory.stages import evaluate
from theory.symbols import symbol
from theory.trials import Trial
from theory.view_samplers import most_apart
from theory.views import Views, cached, misplaced, observed, served

NAME, PUBLIC = "ssp-regret", "ssp-regret-published"
STEEP = {"d": 1, "L": 20.0, "c": 0.05, "radius": 0.75}
SSP = Trial(NAME, "huber", n=4, T=400, options=STEEP, staleness=1, falling=0.2, seeds=4)


def allowed(s: int, n: int) -> int:
    return (2 * s + 1) * (n - 1)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("s", [0, 1, 2, 3])
def test_the_wrong_place_is_counted(n: int, s: int) -> None:
    """All that may be wrong of a view is: the count is attained; and never more at random."""
    assert most_apart(n, 12, s) == allowed(s, n)
    rng = np.random.default_rng(0)
    assert all(most_apart(n, 12, s, rng) <= allowed(s, n) for _ in range(20))


def all_views(n: int, clocks: int, s: int) -> list[Views]:
    found = [served(n, clocks, s, pace, seed) for pace in PACES for seed in range(3)]
    return [*found, cached(n, clocks, s)]


def brute(views: Views) -> int:
    """The same by looking at every update in every view."""
    steps, n = views.seen.shape
    clock, worker = np.divmod(np.arange(steps), n)
    inside = clock < views.seen[:, worker]
    before = np.arange(steps)[:, None] > np.arange(steps)
    return int((inside != before).sum(axis=0).max())


@pytest.mark.parametrize(("n", "s"), [(2, 0), (2, 3), (4, 0), (4, 1), (8, 3)])
def test_views_keep_the_promise(n: int, s: int) -> None:
    """Own updates, all of clocks < c - s, none of clocks > c + s."""
    clocks = 40
    clock, worker = np.divmod(np.arange(n * clocks), n)
    for views in all_views(n, clocks, s):
        assert np.all(views.seen >= clock[:, None] - s)
        assert np.all(views.seen <= np.minimum(clock[:, None] + s + 1, clocks))
        assert np.all(views.seen[np.arange(n * clocks), worker] == clock)
        assert misplaced(views.seen) == brute(views) <= allowed(s, n)


def test_without_a_gate_views_are_far_apart() -> None:
    """Negative control."""
    for views in (served(4, 100, np.inf, "slow", 0), cached(4, 100, 900)):
        assert misplaced(views.seen) == brute(views) > 10 * allowed(1, 4)


@pytest.mark.parametrize("pace", [*PACES, "oldest"])
def test_updates_are_made_before_they_are_seen(pace: str) -> None:
    for views in observed(replace(SSP, pace=pace)):
        when = np.empty(SSP.T, dtype=int)
        when[views.order] = np.arange(SSP.T)
        assert sorted(views.order) == list(range(SSP.T))
        for t in range(0, SSP.T, 17):
            last = [(k - 1) * SSP.n + q for q, k in enumerate(views.seen[t]) if k]
            assert all(when[u] < when[t] for u in last)


def test_one_worker_is_plain_sgd_with_falling_steps() -> None:
    trial = replace(SSP, n=1)
    run = simulate(trial)
    np.testing.assert_allclose(run.y[:, :, 0], run.v[:, :-1], atol=1e-12)
    steps = ENTRIES[NAME].steps(trial.values())
    np.testing.assert_allclose(steps, 0.2 / np.sqrt(np.arange(400) + 1), rtol=1e-12)


def test_workers_must_make_as_many_clocks() -> None:
    with pytest.raises(ValueError, match="cannot share"):
        simulate(replace(SSP, T=401))


# --- the bound ------------------------------------------------------------------------------------


def test_the_published_bound_is_larger_for_all_letters() -> None:
    """4 N against N + M + 1/2; even 3 N would do."""
    s, pw = symbol("s"), symbol("Pw")
    more = sp.Symbol("more", nonnegative=True)
    room = sp.expand((6 * N - (2 * N + 1 + 2 * M)).subs(pw, 1 + more))
    assert all(c > 0 for c in sp.Poly(room, s, more).coeffs())


def test_exponents_of_the_bound() -> None:
    """T times the bound is the regret: it grows like sqrt((s + 1) Pw T)."""
    values = SSP.values() | {"T": 1000, "s": 1e6, "Pw": 1e6}
    bound = THEOREMS[NAME].at
    for letter, exponent in (("T", -0.5), ("s", 0.5), ("Pw", 0.5)):
        longer = values | {letter: 4 * values[letter]}
        assert np.log(bound(**longer) / bound(**values)) / np.log(4) == pytest.approx(
            exponent, abs=1e-4
        )


def test_the_regret_falls_as_the_bound_does() -> None:
    """Noise alone, views as old as they may be, and a minimum that is sharp beside a step."""
    found, sharp = [], {"d": 1, "L": 1000.0, "c": 0.001, "radius": 0.3}
    for steps in (200, 800, 3200):
        trial = replace(SSP, T=steps, pace="oldest", seeds=24, options=sharp)
        run = measure(simulate(trial), trial.steps(), trial.oracle())
        found.append(float(run.loss_at_x.mean()))
    slopes = np.diff(np.log(found)) / np.log(4)
    assert np.all(np.abs(slopes + 0.5) < 0.15), slopes


def test_the_bound_says_something() -> None:
    """A short run from as far away as is claimed."""
    first, s, n = 0.2, 1, 4
    reach = first * np.sqrt(4 * (s + 1) * n)
    options = {**STEEP, "radius": 0.95 * np.sqrt(2) * reach}
    trial = replace(SSP, T=40, options=options, pace="oldest", seeds=12)
    stages = evaluate(NAME, simulate(trial), trial.oracle(), trial.values())
    ratios = {stage.name: stage.ratio for stage in stages}
    assert all(stage.ok for stage in stages)
    assert ratios["reach"] > 0.85
    assert 0.2 < ratios["bound"] < 1


@pytest.mark.parametrize(("name", "broken"), [(NAME, 2), (PUBLIC, 1)])
def test_views_of_900_clocks_ago_break_the_bound(name: str, broken: float) -> None:
    """Negative control: everyone alone for 900 clocks, and then all at once."""
    trial = replace(SSP, theorem=name, T=4800, staleness=0, pace="oldest", seeds=6)
    claim, oracle = trial.values(), trial.oracle()
    assert all(stage.ok for stage in evaluate(name, simulate(trial), oracle, claim))
    real = simulate(replace(trial, staleness=900))
    found = {stage.name: stage for stage in evaluate(name, real, oracle, claim)}
    assert found["bound"].low > broken
    assert not found["perturbation"].ok
    assert not found["views"].ok
    assert found["perturbation"].ratio > 50
