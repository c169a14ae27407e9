"""EF21: workers say how their gradient differs from what is believed of them."""

from __future__ import annotations

import sympy as sp

from theory.derivation import Proof
from theory.forms import Scalar, Vector, inner
from theory.lemmas import F_NEXT, F, sq
from theory.moves import telescope
from theory.potential import potential, step
from theory.statement import Assumption, Kind, Measure, Source
from theory.symbols import symbol
from theory.theorem import Limit, Theorem, Tuned
from theory.tuning import longest_step

T, gam, L, Ltil, delta = (symbol(x) for x in ("T", "gam", "L", "Ltil", "delta"))
Delta, G0, theta, sigma2 = (symbol(x) for x in ("Delta", "G0", "theta", "sigma2"))

LEFT = sp.sqrt(1 - delta)  # of an error after one message, if nothing moves
STALE = LEFT / (1 - LEFT)
c = sp.Symbol("c", positive=True)  # 1 / LEFT - 1


def nonconvex(proof: Proof) -> sp.Expr:
    """The potential f + gam/(2 theta) G falls, G = (1/n) sum_i |d_i|^2, d_i = h_i - grad f_i(x).

    x moves by -gam s, s = grad f(x) + mean d_i; gradients move by u_i, and what is to be said next
    is u_i - d_i.
    """
    h, s, d, u = Vector.mean("h"), Vector.mean("s"), Vector.stack("d"), Vector.stack("u")
    short, wrong, wrong_next = Scalar("|s-h|^2"), Scalar("G"), Scalar("G'")

    falls = proof.axiom("descent", F, F_NEXT, h, -gam * s)
    (cross,) = inner(h, s).terms
    falls = proof.substitute(falls, proof.define(short, s - h), cross)
    falls = proof.substitute(falls, proof.define(short, d.part("mean")), short)
    total = proof.define(wrong, d.part("mean"), d.part("deviation"))
    falls = proof.substitute(falls, total, sq(d.part("mean")))
    falls = proof.absorb(falls, sq(d.part("deviation")))

    error = Vector.stack("d'")
    grows = proof.axiom("contraction", d - u, error)
    after = proof.define(wrong_next, error.part("mean"), error.part("deviation"))
    grows = proof.substitute(grows, after, sq(error.part("mean")))
    (cross,) = inner(d.part("mean"), u.part("mean")).terms
    grows = proof.substitute(grows, proof.axiom("young", d, -u, 1 / LEFT - 1), cross)
    grows = proof.substitute(grows, total, sq(d.part("mean")))
    change = proof.axiom("smooth_on_average", u, gam * s)
    grows = proof.substitute(grows, change, sq(u.part("mean")))

    weight = gam / (2 * (1 - LEFT))
    V, V_NEXT = Scalar("V"), Scalar("V'")
    before = potential(proof, V, {F: sp.Integer(1), wrong: weight})
    then = potential(proof, V_NEXT, {F_NEXT: sp.Integer(1), wrong_next: weight})
    claim = step(proof, before, then, F, (falls, F_NEXT), (grows, wrong_next))
    claim = proof.absorb(claim, sq(s), at={L: (1 - (gam * Ltil * STALE) ** 2) / gam})
    claim = telescope(proof, claim, V, V_NEXT, Delta + weight * G0)
    return proof.isolate(claim, sq(h))


RICHTARIK = Source(
    "Richtarik, Sokolov, Fatkhullin",
    2021,
    "EF21: a new, simpler, theoretically better, and practically faster error feedback",
    "arXiv:2106.05203; here with the longest step that its potential allows",
)

THEOREMS = (
    Theorem(
        name="ef21",
        source=RICHTARIK,
        measure=Measure.GRADSQ_X,
        statement="h_i <- h_i + C(grad f_i(x) - h_i); x <- x - gam mean_i h_i. Gradients are "
        "exact, workers may differ as they like. gam (L + Ltil (1 - theta)/theta) <= 1 is short "
        "enough.",
        assumes=frozenset(
            {Assumption.SMOOTH, Assumption.SMOOTH_ON_AVERAGE, Assumption.CONTRACTION}
        ),
        conditions=(gam * L + (gam * Ltil * STALE) ** 2 <= 1,),
        bound=2 * Delta / (gam * T) + G0 / (theta * T),
        where={theta: 1 - LEFT},
        derive=nonconvex,
        tuned=Tuned(
            step=1 / (L + Ltil * STALE),
            value=2 * Delta * (L + Ltil * STALE) / T + G0 / ((1 - LEFT) * T),
            rate_T=sp.Integer(-1),
            rate_n=sp.Integer(0),
            compute=longest_step(1 / (L + Ltil * STALE), {delta: 1 - 1 / (1 + c) ** 2}),
        ),
        limits=(Limit("bsp-nonconvex", {delta: 1, G0: 0}, Kind.IMPLIED_BY, target={sigma2: 0}),),
    ),
)
