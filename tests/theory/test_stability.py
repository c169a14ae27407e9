"""The longest step with late gradients: exact on both sides, and where it comes from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

from theory import stability
from theory.catalogue import THEOREMS
from theory.catalogue.stability import stable
from theory.check import check
from theory.delayed import THRESHOLD
from theory.derivation import Proof, Refused
from theory.positivity import Domain
from theory.recursions import simulate
from theory.stability import boundary, modes, outwards
from theory.stability_samplers import growth
from theory.stages import evaluate
from theory.symbols import symbol
from theory.trials import Trial

gam, L, tau = symbol("gam"), symbol("L"), symbol("tau")
NAME = "delay-stability"
(CONDITION,) = THEOREMS[NAME].conditions


def longest(delay: int) -> float:
    return float(THRESHOLD.subs({tau: delay, L: 1}))


def test_the_boundary_is_computed() -> None:
    assert sp.simplify(boundary(Proof(Domain())) - THRESHOLD) == 0
    assert outwards()


@pytest.mark.parametrize(
    "conditions",
    [
        (gam * L < 2 * THRESHOLD * L,),
        (gam * L < THRESHOLD * L / 2,),
        (gam * L <= THRESHOLD * L,),
        (gam * L < 2,),
    ],
)
def test_no_other_condition_will_do(conditions: tuple[sp.Rel, ...]) -> None:
    """Longer steps fail, shorter ones are not all, and at the end a mode stays."""
    with pytest.raises(Refused, match="is not"):
        stable(Proof(Domain(conditions)))
    assert not check(replace(THEOREMS[NAME], conditions=conditions), mutants=False).ok


def test_a_mode_that_might_come_back_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stability, "outwards", lambda: False)
    with pytest.raises(Refused, match="come back"):
        boundary(Proof(Domain()))


def test_without_delay_it_is_the_limit_of_gradient_descent() -> None:
    assert CONDITION.subs(tau, 0) == (gam * L < 2)
    (plain,) = THEOREMS["bsp-nonconvex"].conditions
    assert CONDITION.subs(tau, 0) == plain
    assert CONDITION.subs(tau, 1) == (gam * L < 1)


@pytest.mark.parametrize("delay", [0, 1, 3, 10, 20])
def test_modes_and_powers_agree_that_the_limit_is_exact(delay: int) -> None:
    for share, dies in ((0.98, True), (1.02, False)):
        largest = modes(delay, share * longest(delay))[0]
        assert bool(largest < 1) is dies
        assert growth(delay, share * longest(delay)) == pytest.approx(largest, rel=1e-9)
    at = np.exp(1j * np.pi / (2 * delay + 1))
    assert abs(at ** (delay + 1) - at**delay + longest(delay)) < 1e-12


@pytest.mark.parametrize("delay", [0, 1, 3, 10])
def test_runs_die_out_below_and_explode_above(delay: int) -> None:
    for share, dies in ((0.98, True), (1.02, False)):
        trial = Trial(NAME, "iso", n=2, T=3000, gam=share * longest(delay), late=delay)
        run = simulate(replace(trial, options={"sigma2": 0.0}, seeds=1))
        size = np.linalg.norm(run.v[0], axis=-1)
        assert bool(size[-100:].max() < 0.1 * size[0]) is dies
        assert bool(size[-100:].max() > 10 * size[0]) is not dies


@pytest.mark.parametrize("share", [1.01, 1.3, 3.0])
@pytest.mark.parametrize("delay", [1, 4])
def test_no_longer_step_is_stable_again(delay: int, share: float) -> None:
    assert modes(delay, share * longest(delay))[0] > 1


def test_a_longer_delay_than_claimed_is_seen() -> None:
    trial = Trial(NAME, "iso", n=2, T=400, gam=0.5, options={"sigma2": 0.0}, seeds=2, late=1)
    claim, oracle = trial.values(), trial.oracle()
    assert all(stage.ok for stage in evaluate(NAME, simulate(trial), oracle, claim))
    found = evaluate(NAME, simulate(replace(trial, late=20)), oracle, claim)
    broken = {stage.name for stage in found if not stage.ok}
    assert broken == {"perturbation", "bound"}
    size = np.linalg.norm(simulate(replace(trial, late=20)).v[0, -1])
    assert size > 1e8
