"""Certificates: exact sums of known inequalities, and the theorem that rests on one."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from theory.catalogue import THEOREMS
from theory.certificate import certificate
from theory.derivation import Mutation, Proof, Refused
from theory.forms import Scalar, Vector, inner
from theory.mutants import derived, run
from theory.positivity import Domain
from theory.recursions import simulate
from theory.symbols import symbol
from theory.trials.gd import extremal

gam, L, lam = symbol("gam"), symbol("L"), symbol("lam")
u, v = Vector.mean("u"), Vector.mean("v")
GD = THEOREMS["gd-convex"]


def parts(proof, slack, other):
    """lam |u|^2 + (1 - lam) |v|^2 - |lam u + (1 - lam) v|^2 = lam (1 - lam) |u - v|^2."""
    return {
        "|u - v|^2": (lam * (1 - lam) + slack, proof.axiom("square", u - v)),
        "|u|^2": (other, proof.axiom("square", u)),
    }


GOAL = lam * inner(u, u) + (1 - lam) * inner(v, v)
GOAL = GOAL - inner(lam * u + (1 - lam) * v, lam * u + (1 - lam) * v)


def test_a_sum_of_squares():
    proof = Proof(Domain())
    assert certificate(proof, GOAL, parts(proof, 0, sp.Integer(0))).form == GOAL


@pytest.mark.parametrize(
    ("slack", "other", "why"),
    [
        (lam, sp.Integer(0), "leaves"),  # too much of a square
        (0, lam, "leaves"),  # more than the goal: what is given away is left over
        (0, lam - 1, "may be negative"),
    ],
)
def test_anything_else_is_refused(slack, other, why):
    proof = Proof(Domain())
    with pytest.raises(Refused, match=why):
        certificate(proof, GOAL, parts(proof, slack, other))


def test_an_equality_may_have_any_multiplier():
    proof = Proof(Domain())
    total = Scalar("total")
    equality = proof.axiom("pythagoras", Vector.stack("w"), total)
    assert certificate(proof, -1 * equality.form, {"w": (sp.Integer(-1), equality)})


def test_every_multiplier_of_gd_is_needed():
    (case,) = GD.cases
    proof, _ = run(GD, case)
    sites = [site for site in proof.sites if site.startswith("certificate#1.")]
    assert len(sites) == 4
    for site in sites:
        for kind in ("doubled", "dropped", "negated"):
            assert not derived(GD, case, Mutation(site, kind))


def test_the_certificate_of_gd_reaches_beyond_one_over_l():
    (case,) = GD.cases
    assert derived(GD, case, domain=Domain([gam * L <= sp.Rational(7, 5)]))
    assert not derived(GD, case, domain=Domain([gam * L <= sp.Rational(3, 2)]))


def gap(T: int, step: float) -> tuple[float, float]:
    """Return f(x_T) - f* on the Huber function made for T and step, and the bound."""
    trial = extremal(T, step)
    assert not GD.holds(**trial.values())
    return float(trial.oracle().value(simulate(trial).v[0, -1])), GD.at(**trial.values())


@pytest.mark.parametrize("step", [0.25, 0.5, 1.0])
@pytest.mark.parametrize("T", [1, 2, 3, 5, 10, 50, 200])
def test_gd_is_attained(T, step):
    measured, bound = gap(T, step)
    assert measured == pytest.approx(bound, rel=1e-12)
    assert measured / (bound / 2) == pytest.approx(2), "half of it is violated"


def test_the_potential_is_constant_on_the_worst_case():
    """Every inequality of the certificate is an equality there: no multiplier can be smaller."""
    trial = extremal(40, 0.5)
    oracle, x = trial.oracle(), simulate(trial).v[0]
    s = trial.gam * np.arange(trial.T + 1)
    squares = (x**2).sum(axis=-1), (oracle.gradient(x) ** 2).sum(axis=-1)
    v = squares[0] + 2 * s * oracle.value(x) + s * (s + 1) * squares[1]
    np.testing.assert_allclose(v, v[0], rtol=1e-12)
