"""Where workers that differ end without noise: beside the minimum, by about a step.

On quadratics that is a point which can be computed (`theory.ends`). Proved here for all strongly
convex functions is how far away it can be.
"""

from __future__ import annotations

import sympy as sp

from theory.algebra import is_zero
from theory.derivation import Proof
from theory.fixed_points import pull, rounds, shrink, steep, walk
from theory.forms import Bound, Claim, Form, Vector
from theory.moves import average, unroll
from theory.radius import norm, whole
from theory.statement import Assumption, Measure, Source
from theory.symbols import symbol
from theory.theorem import Limit, Theorem

T, H, k, gam, L, mu = (symbol(x) for x in ("T", "H", "k", "gam", "L", "mu"))
R2, zs, lam, rho, sigma2 = (symbol(x) for x in ("R2", "zs", "lam", "rho", "sigma2"))

NOTHING = sp.Integer(0)
PULL = sp.sqrt(zs)
# The average of |y_k - x*| over k < H, where y walks from x*.
AWAY = gam * PULL / (1 - rho) * (1 - (1 - rho**H) / (H * (1 - rho)))


def _read(bound: sp.Expr) -> sp.Expr:
    return bound.subs(rho, 1 - gam * mu)


def local(proof: Proof) -> sp.Expr:
    """A round contracts by rho^H, and moves x* by what gradients change on the way.

    y_k walks alone from x*: y' - x* = p - gam g*, and the g* of all workers add up to 0, so their
    mean q moves by the changes u = grad f_i(y_k) - g* alone.
    """
    y, u, p, star = (whole(name) for name in ("y", "u", "p", "g*"))
    step = walk(proof, whole("y'"), p - gam * star, shrink(proof, y, u, p), pull(proof, star))
    far = unroll(proof, step, norm(y), norm(whole("y'")), NOTHING, steps=k)
    mean, _ = average(proof, norm(y), far, AWAY)

    q, after, ubar = Vector.mean("q"), Vector.mean("q'"), Vector.mean("u")
    moves = walk(proof, after, q - gam * ubar, steep(proof, u, y, ubar))
    moves = proof.substitute(moves, mean, norm(y))
    moved = proof.bounded(
        norm(q), unroll(proof, moves, norm(q), norm(after), NOTHING, steps=H), "a round from x*"
    )

    e, z, w, p = Vector.mean("x"), whole("z"), whole("w"), whole("z'")
    together = Bound("|x - x*|", positive=True)
    closer = unroll(proof, shrink(proof, z, w, p), norm(z), norm(p), together, steps=H)
    factor = sp.cancel(closer / together)
    if factor.has(together) or not is_zero(factor - rounds(proof)):
        proof.refuse(f"a round does not contract by rho^H but by {factor}")
    shorter = proof.root(proof.axiom("shorter", z, Vector.mean("z")))
    in_a_round = Claim(Form({norm(e): factor, norm(z): sp.Integer(-1)}))
    shorter = proof.substitute(shorter, proof.record(in_a_round, "H steps from one model"), norm(z))
    claim = walk(proof, Vector.mean("x'"), Vector.mean("z") + q, shorter, moved)
    ends = unroll(proof, claim, norm(e), norm(Vector.mean("x'")), sp.sqrt(R2), steps=T / H)
    return _read(ends) ** 2


def gossip(proof: Proof) -> sp.Expr:
    """x_i tends to x* + c_i and a little more; c = W (c - gam g*) is what g* alone would do.

    From x* + c a step goes to x* + c - gam W u, u what gradients change from x* to x* + c. Stacks z
    of models less x* + c contract by rho, and their mean is xbar - x*.
    """
    c, drawn, mixed, star = (Vector.deviation(x) for x in ("c", "c - gam g*", "c'", "g*"))
    claim = proof.root(proof.axiom("mixing", drawn, mixed))
    to_star = proof.substitute(
        proof.root(proof.axiom("shorter", whole("g*"), star)),
        pull(proof, whole("g*")),
        norm(whole("g*")),
    )
    claim = proof.substitute(claim, walk(proof, drawn, c - gam * star, to_star), norm(drawn))
    beside = unroll(proof, claim, norm(c), norm(mixed), NOTHING, forever=True)
    aside = proof.bounded(norm(c), beside, "c is where that ends")

    z, g, p, u, before, after = (whole(x) for x in ("z", "g", "p", "u", "y", "z'"))
    changed = proof.substitute(steep(proof, u, c), aside, norm(c))
    step = walk(proof, before, p - gam * u, shrink(proof, z, g, p), changed)
    claim = proof.substitute(
        proof.root(proof.axiom("no_farther", before, after)), step, norm(before)
    )
    ends = unroll(proof, claim, norm(z), norm(after), sp.sqrt(R2) + beside)
    told = proof.bounded(norm(z), ends, "after T steps")
    mean = proof.substitute(proof.root(proof.axiom("shorter", z, Vector.mean("z"))), told, norm(z))
    return _read(proof.isolate(mean, norm(Vector.mean("z")))) ** 2


# What L mu^-1 gradients at x* move a model beside it; c of gossip.
LOCAL = L / mu * PULL * (gam * H / (1 - rho**H) - 1 / mu)
BESIDE = lam * gam * PULL / (1 - lam)

KHALED = Source(
    "Khaled, Mishchenko, Richtarik",
    2019,
    "First analysis of local GD on heterogeneous data",
    "arXiv:1909.04715; in its spirit; here with the point where it ends, by contraction",
)
YUAN = Source(
    "Yuan, Ling, Yin",
    2016,
    "On the convergence of decentralized gradient descent",
    "arXiv:1310.7063; in its spirit; here adapt-then-combine, by contraction",
)
WITHOUT_NOISE = frozenset(
    {Assumption.SMOOTH, Assumption.STRONGLY_CONVEX, Assumption.APART_AT_MINIMUM}
)

THEOREMS = (
    Theorem(
        name="local-gd-bias",
        source=KHALED,
        measure=Measure.DIST,
        statement="x_i <- x_i - gam grad f_i(x_i), without noise; every H steps x_i <- mean_j x_j. "
        "Workers may differ. What does not vanish with T is about gam (H - 1)/2 (L/mu) sqrt(zs).",
        assumes=WITHOUT_NOISE,
        conditions=(gam * (mu + L) <= 2, sp.Eq(sp.Mod(T, H), 0)),
        bound=(rho**T * sp.sqrt(R2) + (1 - rho**T) * LOCAL) ** 2,
        where={rho: 1 - gam * mu},
        derive=local,
        limits=(Limit("bsp-sc-const", {H: sp.Integer(1)}, target={sigma2: NOTHING}),),
    ),
    Theorem(
        name="gossip-gd-bias",
        source=YUAN,
        measure=Measure.DIST,
        statement="X <- W (X - gam G(X)), without noise. Workers may differ. What does not vanish "
        "with T is at most gam lam/(1 - lam) (L/mu) sqrt(zs).",
        assumes=WITHOUT_NOISE | {Assumption.MIXING},
        conditions=(gam * (mu + L) <= 2,),
        bound=(rho**T * (sp.sqrt(R2) + BESIDE) + (1 - rho**T) * L / mu * BESIDE) ** 2,
        where={rho: 1 - gam * mu},
        derive=gossip,
        limits=(Limit("bsp-sc-const", {lam: NOTHING}, target={sigma2: NOTHING}),),
    ),
)
