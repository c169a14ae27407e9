"""One peer a step: a graph that changes, and after m steps has averaged exactly."""

from __future__ import annotations

import sympy as sp

from theory import lemmas
from theory.catalogue.second_moment import BOUNDED, leading, tuned
from theory.derivation import Proof
from theory.forms import Vector
from theory.lemmas import sq
from theory.moves import unroll
from theory.radius import norm, part, steepness
from theory.statement import Assumption, Kind, Measure, Source
from theory.symbols import symbol
from theory.theorem import Limit, Theorem

n, m, H, gam, L, G2 = (symbol(x) for x in ("n", "m", "H", "gam", "L", "G2"))


def nonconvex(proof: Proof) -> sp.Expr:
    """Deviations are made of the last m - 1 steps: of what was before, nothing is left.

    x~ = left~ + z~, z~ what these steps add, each mixed at least once. One worker alone, m = 0,
    has no deviations, which is less than is said of it.
    """
    g, steep = steepness(proof)
    z, y, mixed, aside = (Vector.deviation(name) for name in ("z", "y", "z'", "g"))
    claim = proof.root(proof.axiom("no_longer", y, mixed))
    moved = part(proof, proof.axiom("minkowski", y, z - gam * aside), aside, g, steep)
    claim = proof.substitute(claim, moved, norm(y))
    added = unroll(proof, claim, norm(z), norm(mixed), sp.Integer(0), steps=m - 1)

    x, left = Vector.deviation("x"), Vector.deviation("left")
    claim = proof.axiom("minkowski", x, left + z)
    claim = proof.substitute(claim, proof.axiom("averaged", left), norm(left))
    claim = proof.substitute(claim, proof.bounded(norm(z), added, "m - 1 steps"), norm(z))
    far = proof.isolate(claim, norm(x))
    proof.perturbation = far**2
    return lemmas.perturbed(proof, proof.bounded(sq(x), far**2, "for all t"), sq(x))


APART = gam**2 * G2 * (m - 1) ** 2

ASSRAN = Source(
    "Assran, Loizou, Ballas, Rabbat",
    2019,
    "Stochastic gradient push for distributed deep learning",
    "arXiv:1811.10792; the graph; here doubly stochastic, with an explicit bound",
)

THEOREMS = (
    Theorem(
        name="one-peer-exp",
        source=ASSRAN,
        measure=Measure.GRADSQ,
        statement="X <- W_t (X - gam G(X)): step, then everyone averages with the worker "
        "2^(t mod m) before it. n = 2^m, equal start. Workers may differ.",
        assumes=BOUNDED | {Assumption.TURNS},
        conditions=(gam * L <= 1, sp.Eq(n, 2**m)),
        bound=leading(gam) + L**2 * APART,
        derive=nonconvex,
        perturbation=APART,
        tuned=tuned((m - 1) ** 2),
        limits=(
            Limit("pr-sgd", {n: sp.Integer(2), m: sp.Integer(1)}, target={n: 2, H: sp.Integer(1)}),
            Limit("bsp-nonconvex", {n: sp.Integer(2), m: sp.Integer(1)}, Kind.IMPLIED_BY),
        ),
        equivalent={
            f"minkowski#2.left~ {kind}": "nothing is left, whatever its factor"
            for kind in ("doubled", "negated")
        },
    ),
)
