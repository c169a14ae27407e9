"""Gradient descent without noise: what is known to be the best that can be said."""

from __future__ import annotations

import sympy as sp

from theory.certificate import certificate
from theory.derivation import Proof
from theory.forms import ONE, Claim, Form, Scalar, Vector, inner
from theory.lemmas import F_NEXT, F, sq
from theory.moves import unroll
from theory.statement import Assumption, Measure, Source
from theory.symbols import symbol
from theory.theorem import Limit, Theorem

T, t, gam, L, R2 = (symbol(x) for x in ("T", "t", "gam", "L", "R2"))

V, V_NEXT = Scalar("V"), Scalar("V'")


def _potential(proof: Proof, s: sp.Expr, z: Vector, gap: Scalar, g: Vector) -> Form:
    """|x - x*|^2 + 2 s (f(x) - f*) + s (s + 1/L)|grad f(x)|^2 after s / gam steps."""
    terms = {
        "distance": inner(z, z),
        "gap": Form.of(gap, 2 * s),
        "gradient": s * (s + 1 / L) * inner(g, g),
    }
    kinds = ("doubled", "dropped", "negated")
    return Form.total(proof.mutated(proof.visit("potential"), terms, kinds))


def convex_last(proof: Proof) -> sp.Expr:
    """A potential falls, by a certificate; at T it is at least (4 T gam + 2/L) times the gap."""
    z, g, g_next = Vector.mean("z"), Vector.mean("g"), Vector.mean("g'")
    s = gam * (t + 1)
    before = _potential(proof, gam * t, z, F, g)
    after = _potential(proof, s, z - gam * g, F_NEXT, g_next)
    back = 2 * s * (s + 1 / L - gam) / gam
    parts = {
        "(x_t, x*)": (2 * gam, proof.axiom("convex_smooth_gap", F, g, z)),
        "(x_t+1, x_t)": (
            2 * s + back,
            proof.axiom("interpolation", F_NEXT, F, g_next, g, gam * g),
        ),
        "(x_t, x_t+1)": (back, proof.axiom("interpolation", F, F_NEXT, g, g_next, -gam * g)),
        "|g' - g|^2": (
            s * (s * (2 - gam * L) + 2 * (1 / L - gam)) / (gam * L),
            proof.axiom("square", g_next - g),
        ),
    }
    falls = certificate(proof, before - after, parts)
    named = Claim(falls.form - before + Form.of(V) + after - Form.of(V_NEXT))
    proof.record(Claim(before - Form.of(V), equality=True), "definition of V")
    start = Form({atom: c.subs(t, 0) for atom, c in before.terms.items()})[sq(z)] * R2
    reached = unroll(proof, named, V, V_NEXT, start)

    s = gam * T
    claim = Claim(Form.of(ONE, reached) - _potential(proof, s, z, F, g))
    claim = proof.substitute(claim, proof.axiom("square", z - (s + 1 / L) * g), sq(z))
    (cross,) = inner(z, g).terms
    claim = proof.substitute(claim, proof.axiom("convex_smooth_gap", F, g, z), cross)
    return proof.isolate(claim, F)


DRORI_TEBOULLE = Source(
    "Drori, Teboulle",
    2014,
    "Performance of first-order methods for smooth convex minimization: a novel approach",
    "arXiv:1206.3209; here by a potential, so that one certificate serves every T; it holds as "
    "far as gam L = 7/5",
)

THEOREMS = (
    Theorem(
        name="gd-convex",
        source=DRORI_TEBOULLE,
        measure=Measure.LAST_GAP,
        statement="x <- x - gam grad f(x), without noise: every worker computes grad f_i exactly.",
        assumes=frozenset({Assumption.SMOOTH, Assumption.CONVEX}),
        conditions=(gam * L <= 1,),
        bound=L * R2 / (4 * T * gam * L + 2),
        derive=convex_last,
        # Half the step, twice as many steps: only T gam counts.
        limits=(
            Limit(
                "gd-convex",
                {T: 2 * T, gam: gam / 2},
                assuming=(2 * gam * L <= 1,),
                target={},
            ),
        ),
        attained=True,
    ),
)
