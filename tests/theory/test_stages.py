"""The stage-wise check: each stage sees its own bug and no other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from theory.catalogue import THEOREMS
from theory.descents import ENTRIES
from theory.recursions import compress, draw, scattered, simulate
from theory.stages import Stage, Trajectory, evaluate
from theory.trials import Trial

LOCAL = Trial("local-sgd-nonconvex", "nc", 8, 120, 0.05, {"zeta2": 0.5}, H=4)


def stages(trial: Trial, run: Trajectory, **values: float) -> Mapping[str, Stage]:
    claim = trial.values() | values
    return {s.name: s for s in evaluate(trial.theorem, run, trial.oracle(), claim)}


def broken(found: Mapping[str, Stage]) -> set[str]:
    return {name for name, stage in found.items() if not stage.ok}


def test_every_theorem_has_an_entry() -> None:
    assert set(ENTRIES) == set(THEOREMS)


def test_all_stages_hold_on_a_correct_run() -> None:
    found = stages(LOCAL, simulate(LOCAL))
    assert not broken(found)
    assert set(found) == {
        *("conditions", "identity", "noise", "unbiased", "descent"),
        *("smoothness", "perturbation", "bound"),
    }
    assert 0.9 < found["noise"].ratio < 1.1, "sigma2 is exact"
    assert 0.2 < found["perturbation"].ratio < 1, "the lemma says something"


def test_a_wrong_virtual_sequence_breaks_the_identity_alone() -> None:
    run = simulate(LOCAL)
    v = run.v.copy()
    v[3, 50] += 1e-9
    assert broken(stages(LOCAL, replace(run, v=v))) == {"identity"}


def test_a_larger_noise_is_seen_at_the_noise() -> None:
    found = stages(LOCAL, simulate(LOCAL), sigma2=0.8)
    assert "noise" in broken(found)
    assert found["noise"].ratio == pytest.approx(1 / 0.8, rel=0.1)


def test_a_smaller_smoothness_is_seen_at_the_smoothness() -> None:
    trial = Trial("ef-sgd-nonconvex", "iso", 4, 100, 0.02, compressor="sign")
    run = simulate(trial)
    assert not broken(stages(trial, run))
    assert broken(stages(trial, run, L=0.5)) >= {"smoothness"}


def test_never_averaging_passes_the_bound_but_not_the_lemma() -> None:
    """Why the end-to-end inequality is not enough."""
    found = stages(LOCAL, simulate(replace(LOCAL, H=LOCAL.T)))
    assert broken(found) == {"perturbation"}
    assert found["perturbation"].low > 10
    assert found["bound"].ok


def test_a_violated_condition_stops_the_check() -> None:
    found = stages(LOCAL, simulate(LOCAL), gam=1.5)
    assert set(found) == broken(found) == {"conditions"}
    with pytest.raises(ValueError, match="gam"):
        THEOREMS[LOCAL.theorem].at(**LOCAL.values() | {"gam": 1.5})


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_diverged_run_does_not_pass(bad: float) -> None:
    run = simulate(LOCAL)
    run.g[0, 60:] = bad
    run.v[0, 61:] = bad
    run.y[0, 61:] = bad
    with np.errstate(invalid="ignore"):
        found = stages(LOCAL, run)
    assert {"identity", "noise", "descent", "bound"} <= broken(found)


def test_single_precision_needs_its_own_tolerance() -> None:
    trial = Trial("gossip-consensus", "iso", 8, 60, topology="ring", start="apart")
    run = simulate(trial)
    rounded = Trajectory(
        *(array.astype(np.float32).astype(float) for array in (run.y, run.g, run.v))
    )
    strict = evaluate(trial.theorem, rounded, trial.oracle(), trial.values())
    assert not all(stage.ok for stage in strict)
    loose = evaluate(trial.theorem, rounded, trial.oracle(), trial.values(), tolerance=1e-5)
    assert all(stage.ok for stage in loose), loose


def test_one_exchange_with_everybody_is_enough() -> None:
    trial = Trial("gossip-consensus", "iso", n=8, T=10, start="apart")
    assert not broken(stages(trial, simulate(trial)))
    assert broken(stages(trial, simulate(replace(trial, topology="ring")))) >= {"perturbation"}


def test_shapes_are_checked() -> None:
    run = simulate(LOCAL)
    with pytest.raises(ValueError, match="disagree"):
        stages(LOCAL, replace(run, v=run.v[:, :-1]))
    with pytest.raises(ValueError, match="claimed"):
        stages(LOCAL, run, n=4)


def test_replicas_that_drift_are_seen_under_bsp() -> None:
    trial = Trial("bsp-nonconvex", "iso", n=4, T=50, gam=0.1)
    run = simulate(trial)
    assert not broken(stages(trial, run))
    y = run.y.copy()
    y[:, 10, 0] += 1e-3
    y[:, 10, 1] -= 1e-3
    found = stages(trial, replace(run, y=y))
    assert found["perturbation"].ratio == np.inf


@pytest.mark.parametrize(("name", "k"), [("topk", 3), ("sign", 0)])
def test_compressors_contract(name: str, k: int) -> None:
    p = np.random.default_rng(0).normal(size=(500, 10))
    p[0] = 1.0  # the worst case of both
    left = ((compress(name, k, p) - p) ** 2).sum(axis=1) / (p**2).sum(axis=1)
    quality = {"topk": k / 10, "sign": 1 / 10}[name]
    assert np.all(left <= 1 - quality + 1e-12)
    with pytest.raises(ValueError, match="no compressor"):
        compress("zip", k, p)


def test_noise_and_starts_depend_on_the_seed_alone() -> None:
    few, many = replace(LOCAL, seeds=2), replace(LOCAL, seeds=5)
    oracle = LOCAL.oracle()
    np.testing.assert_array_equal(draw(few, oracle), draw(many, oracle)[:2])
    shared = draw(replace(few, noise="shared"), oracle)
    assert np.all(shared == shared[:, :, :1])
    assert not np.array_equal(scattered(0, 4, 3), scattered(1, 4, 3))


def test_a_period_that_does_not_divide_is_refused() -> None:
    with pytest.raises(ValueError, match="does not divide"):
        simulate(replace(LOCAL, H=7))
