"""Bounded gradients: many mechanisms at once, what each adds to the radius, and what breaks."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import numpy as np
import pytest
import sympy as sp

from theory import composed
from theory.algebra import same
from theory.catalogue import THEOREMS
from theory.derivation import Proof, Refused
from theory.forms import ONE, Claim, Form, Norm, Scalar, Vector
from theory.lemmas import sq
from theory.measured import measure
from theory.moments import linear
from theory.positivity import Domain
from theory.radius import ETA, PHI, PSI, Mechanisms, radius, virtual, whole
from theory.recursions import draw, simulate
from theory.rounds import average_line, average_square, late, repeat
from theory.stages import Stage, evaluate
from theory.symbols import symbol
from theory.testbed import problem
from theory.trials import Trial
from theory.turns import cycle, qualities

H, T, Tp, k, gam, eta, L = (symbol(x) for x in ("H", "T", "Tp", "k", "gam", "eta", "L"))
mom, lam, delta, tau, G2 = (symbol(x) for x in ("mom", "lam", "delta", "tau", "G2"))

APART = {"d": 2, "zeta2": 25.0, "sigma2": 0.5}
ALL = Trial("composition-G", "nc", 8, 200, 0.005, APART, H=4, topology="ring", mom=0.5, late=2)
ALL = replace(ALL, compressor="topk", k=1)
LOCAL = Trial("pr-sgd", "nc", 8, 120, 0.02, APART, H=4)


def stages(trial: Trial, **values: float) -> dict[str, Stage]:
    found = evaluate(trial.theorem, simulate(trial), trial.oracle(), trial.values() | values)
    return {stage.name: stage for stage in found}


def broken(trial: Trial, **values: float) -> set[str]:
    return {name for name, stage in stages(trial, **values).items() if not stage.ok}


# --- runs -----------------------------------------------------------------------------------------


def test_five_mechanisms_at_once_keep_every_stage() -> None:
    found = stages(ALL)
    assert all(stage.ok for stage in found.values())
    assert found["identity"].ratio < 1e-14
    assert found["perturbation"].ratio < 1


@pytest.mark.parametrize(
    ("change", "stage"),
    [
        ({"memory": False}, "identity"),
        ({"mom": 0.0}, "identity"),
        ({"mom": 0.9}, "identity"),
        ({"topology": "lopsided"}, "identity"),
        ({"noise": "shared"}, "noise"),
    ],
)
def test_what_breaks_one_of_five(change: dict[str, object], stage: str) -> None:
    run, oracle = simulate(replace(ALL, **change)), ALL.oracle()
    found = evaluate(ALL.theorem, run, oracle, ALL.values())
    assert stage in {one.name for one in found if not one.ok}


@pytest.mark.parametrize("change", [{"H": 200}, {"topology": "ring"}])
def test_understated_lengths_are_seen_at_the_radius(change: dict[str, object]) -> None:
    """With C = 1: what error feedback may keep, 2.4 displacements, hides much else."""
    claimed = replace(ALL, compressor="identity", topology="hypercube")
    assert not broken(claimed)
    found = evaluate(
        claimed.theorem, simulate(replace(claimed, **change)), claimed.oracle(), claimed.values()
    )
    assert {stage.name for stage in found if not stage.ok} == {"perturbation"}


def test_the_step_of_momentum_must_not_be_forgotten() -> None:
    """In the noise a bound with gam in place of gam / (1 - mom) is far below what is measured."""
    trial = Trial("local-momentum-G", "nc", 8, 20000, 0.002, {"d": 2, "radius": 0.0}, mom=0.9)
    trial = replace(trial, seeds=4)
    found = stages(trial)
    assert all(stage.ok for stage in found.values())
    wrong = THEOREMS["pr-sgd"].at(**trial.values())
    measured = found["bound"].ratio * THEOREMS[trial.theorem].at(**trial.values())
    assert measured / wrong > 5


def test_without_extras_the_recursion_is_the_plain_one() -> None:
    for plain in (LOCAL, replace(LOCAL, topology="ring"), replace(LOCAL, H=1)):
        assert not composed.needed(plain)
        oracle = plain.oracle()
        found, expected = composed.run(plain, oracle, draw(plain, oracle)), simulate(plain)
        for name in ("y", "g", "v"):
            np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-13)


def test_workers_part_after_the_steps_together() -> None:
    trial = replace(LOCAL, theorem="post-local-sgd", after=20)
    assert composed.exchanges(trial)[:22] == [*range(20), 23, 27]
    spread = measure(simulate(trial), trial.steps(), trial.oracle()).spread
    assert spread[:, :21].max() < 1e-30
    assert spread[:, 21:24].min() > 1e-4
    with pytest.raises(ValueError, match="does not divide"):
        simulate(replace(trial, after=21))


def test_late_gradients_are_taken_where_the_models_were() -> None:
    trial = replace(LOCAL, H=1, late=3)
    run = simulate(trial)
    np.testing.assert_allclose(run.y[:, 3:, 0], run.v[:, :-4], rtol=1e-14)
    assert (run.y[:, :3] == trial.oracle().x0).all()


def test_exact_moments_are_not_claimed_for_extras() -> None:
    plain = replace(LOCAL, problem="iso", options={})
    assert linear(plain)
    for change in ({"mom": 0.5}, {"after": 20}, {"late": 1}, {"topology": "one_peer_exponential"}):
        assert not linear(replace(plain, **change))


# --- one peer a step ------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 4, 8, 16])
def test_any_m_mixings_in_a_row_average_exactly(n: int) -> None:
    turn = cycle("one_peer_exponential", n)
    assert len(turn) == qualities("one_peer_exponential", n)["m"]
    for first in range(len(turn)):
        matrices = turn[first:] + turn[:first]
        np.testing.assert_allclose(reduce(np.matmul, matrices), 1 / n, atol=1e-15)
        if len(turn) > 1:
            assert np.abs(reduce(np.matmul, matrices[1:]) - 1 / n).max() > 0.05


def test_six_workers_never_agree_exactly() -> None:
    """Negative control: 1/12 is left of an entry after a turn."""
    turn = reduce(np.matmul, cycle("one_peer_exponential", 6))
    assert np.abs(turn - 1 / 6).max() == pytest.approx(1 / 12)
    six = Trial("one-peer-exp", "nc", 6, 120, 0.02, APART, topology="one_peer_exponential")
    assert broken(six) == {"conditions"}


# --- gradients are bounded ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["nc", "huber", "pseudo_huber"])
@pytest.mark.parametrize("zeta2", [0.0, 4.0])
def test_G2_is_met_somewhere_and_exceeded_nowhere(name: str, zeta2: float) -> None:
    oracle = problem(name, 4, zeta2=zeta2, sigma2=0.0)
    line = np.concatenate((np.linspace(0, 3, 3001), [1e6]))
    points = np.multiply.outer(line, np.ones(oracle.d))
    slopes = np.linalg.norm(oracle.gradient(points), axis=-1)
    assert slopes.max() == pytest.approx(oracle.steepest, rel=1e-6)
    bound = oracle.values["G2"]
    assert bound == pytest.approx((oracle.steepest + np.sqrt(zeta2)) ** 2)
    own = oracle.gradients(np.random.default_rng(0).normal(size=(2000, 4, oracle.d)))
    assert (own**2).sum(axis=-1).mean(axis=-1).max() <= bound


def test_parabolas_have_no_G2_and_the_theorems_refuse() -> None:
    trial = replace(LOCAL, problem="iso", options={})
    assert "G2" not in trial.values()
    with pytest.raises(ValueError, match="G2"):
        stages(trial)


# --- lengths and moves ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "start"),
    [
        (Mechanisms(), 0),
        (Mechanisms(momentum=True), mom / (1 - mom)),
        (Mechanisms(gossip=True), H * PSI),
        (Mechanisms(feedback=True), H * PHI),
        (Mechanisms(late=True), tau),
        (Mechanisms(gossip=True, late=True), H * PSI + tau),
        (Mechanisms(feedback=True, momentum=True), H * PHI + mom / (1 - mom)),
        (Mechanisms(feedback=True, gossip=True), H * (PHI + PSI + 2 * PHI * PSI)),
    ],
)
def test_what_each_mechanism_adds(what: Mechanisms, start: sp.Expr) -> None:
    proof = Proof(Domain((gam * L <= 1 - mom if what.momentum else gam * L <= 1,)))
    step = what.step(proof)
    _, far = radius(proof, what, step)
    assert same(far, step * sp.sqrt(G2) * (start + k))


def test_a_step_that_is_too_long_is_refused() -> None:
    for momentum, condition in ((True, gam * L <= 1), (False, gam * L <= 2)):
        with pytest.raises(Refused, match="is not proved"):
            Mechanisms(momentum=momentum).step(Proof(Domain((condition,))))


def test_v_moves_by_the_step_of_momentum() -> None:
    g, proof = Vector.mean("g"), Proof(Domain())
    moved = virtual(proof, Mechanisms(momentum=True), eta, g)
    assert {str(base): c for base, c in moved.terms.items()} == {"g": -eta}
    assert same(ETA * (1 - mom), gam)


def test_moves_over_rounds() -> None:
    x, after, last = Scalar("X"), Scalar("X'"), Scalar("X_H")
    claim = Claim(Form({x: sp.Integer(1), ONE: G2, after: sp.Integer(-1)}))
    whole_round = repeat(Proof(Domain()), claim, x, after, last).form
    assert dict(whole_round.terms) == {x: 1, ONE: H * G2, last: -1}
    line, square = H * eta + k * gam, (H * eta + k * gam) ** 2
    _, mean = average_line(Proof(Domain()), x, line, H * eta, gam)
    _, mean_square = average_square(Proof(Domain()), x, line, H * eta, gam)
    for H_value in (1, 2, 5):
        for found, term in ((mean, line), (mean_square, square)):
            total = sum(term.subs({H: H_value, k: i}) for i in range(H_value))
            assert sp.expand(found.subs(H, H_value) - total / H_value) == 0
    _, shared = late(Proof(Domain()), x, G2, Tp)
    assert same(shared, (T - Tp) / T * G2)


def test_moves_over_rounds_refuse() -> None:
    x, after, last = Scalar("X"), Scalar("X'"), Scalar("X_H")
    proof = Proof(Domain())
    for terms in ({x: lam, ONE: G2}, {x: sp.Integer(1), ONE: -G2}, {ONE: G2}):
        with pytest.raises(Refused, match="not of the form"):
            repeat(proof, Claim(Form({**terms, after: sp.Integer(-1)})), x, after, last)
    for bound in (k**2, eta * k, 1 + gam * k):
        with pytest.raises(Refused, match="is not"):
            average_line(proof, x, bound, sp.Integer(0), gam)
        with pytest.raises(Refused, match="is not"):
            average_square(proof, x, bound, sp.Integer(0), gam)
    with pytest.raises(Refused, match="negative"):
        late(proof, x, G2, 2 * T)


def test_a_stack_in_one_piece_is_a_norm() -> None:
    (base,) = whole("r").terms
    assert str(Norm(base)) == "|r|"
    assert str(sq(whole("r"))) == "|r|^2"
