"""D2 and gradient tracking: nothing of what workers differ by is left, if W allows it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

from theory import remembering
from theory.catalogue import THEOREMS
from theory.check import check
from theory.derivation import Proof, Refused
from theory.positivity import Domain
from theory.recursions import simulate
from theory.remembering import inside, largest, modes
from theory.symbols import symbol
from theory.trials import Trial
from theory.trials.common import BENT

gam, L, neg = symbol("gam"), symbol("L"), symbol("neg")
D2 = Trial("d2", "heta", 4, 3000, 0.05, BENT, topology="ring,gamma=0.5", order="d2", seeds=1)


def missed(trial: Trial) -> float:
    """How far the worst model is from the minimum in the end."""
    away = simulate(trial).y[0, -1] - trial.oracle().optimum
    return float(np.linalg.norm(away, axis=1).max())


@pytest.mark.parametrize("order", remembering.ORDERS)
@pytest.mark.parametrize("topology", ["ring,gamma=0.5", "complete"])
def test_without_noise_all_reach_the_minimum_itself(order: str, topology: str) -> None:
    assert missed(replace(D2, order=order, topology=topology)) < 1e-11


def test_gossip_does_not() -> None:
    assert missed(replace(D2, order="atc")) > 0.01


@pytest.mark.parametrize("order", remembering.ORDERS)
def test_how_workers_differ_does_not_keep_them_apart(order: str) -> None:
    trial = replace(D2, problem="het", T=1500, gam=0.02, order=order)

    def spread(trial: Trial, zeta2: float) -> float:
        models = simulate(replace(trial, options={"zeta2": zeta2, "sigma2": 0.1})).y[0, -100:]
        return float(models.var(axis=1).mean())

    assert spread(trial, 5.0) == pytest.approx(spread(trial, 0.0), rel=1e-6)
    plain = replace(trial, order="atc")
    assert spread(plain, 5.0) > 10 * spread(plain, 0.0)


@pytest.mark.parametrize(("eigenvalue", "dies"), [(-0.325, True), (-0.345, False), (0.99, True)])
def test_short_steps_need_eigenvalues_above_a_third(eigenvalue: float, dies: bool) -> None:
    assert (largest(eigenvalue, 0.01) < 1) is dies


def test_modes_are_those_of_the_recursion_and_the_limit_is_exact() -> None:
    for eigenvalue in np.linspace(-0.9, 0.99, 12):
        for step in (0.01, 0.5, 1.9):
            one = eigenvalue * np.array([[2 - step, -(1 - step)], [1 / eigenvalue, 0]])
            radius = np.abs(np.linalg.eigvals(one)).max()
            assert largest(eigenvalue, step) == pytest.approx(radius)
            assert (radius < 1) == (eigenvalue > -1 / (3 - 2 * step) or step > 1.5)


@pytest.mark.parametrize(("topology", "n", "grows"), [("hypercube", 8, True), ("path", 8, False)])
def test_a_hypercube_of_eight_grows_where_it_is_not_refused(
    topology: str, n: int, grows: bool
) -> None:
    trial = replace(D2, problem="het", n=n, T=150, options={"sigma2": 0.0}, topology=topology)
    theorem = THEOREMS["d2-stability"]
    assert bool(theorem.holds(**trial.values())) is grows
    size = np.linalg.norm(simulate(trial).y[0], axis=-1).max(axis=1)
    assert (size[-1] > 1e6 * size[0]) == grows


@pytest.mark.parametrize(
    "conditions",
    [
        (2 * neg <= 1, gam * L < 2),
        (4 * neg <= 1, gam * L < 2),
        (3 * neg <= 1, gam * L < 3),
        (3 * neg <= 1, gam * L < 1),
    ],
)
def test_no_other_conditions_will_do(conditions: tuple[sp.Rel, ...]) -> None:
    """Wider ones fail, narrower ones are not all."""
    other = replace(THEOREMS["d2-stability"], conditions=conditions, limits=())
    assert not check(other, mutants=False).ok


def test_the_criterion_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    domain = Domain(THEOREMS["d2-stability"].conditions)
    assert inside()
    assert modes(Proof(domain))
    monkeypatch.setattr(remembering, "inside", lambda: False)
    with pytest.raises(Refused, match="criterion"):
        modes(Proof(domain))


def test_what_is_remembered_must_be_gone_before_a_bound_is_claimed() -> None:
    """Negative control: without its zs, or with a faster rate, the bound is not derived."""
    for name in ("d2", "gradient-tracking", "local-gd-bias", "gossip-gd-bias"):
        theorem = THEOREMS[name]
        forgotten = replace(theorem, bound=theorem.bound.subs(symbol("zs"), 0), limits=())
        assert not check(forgotten, mutants=False).derived
