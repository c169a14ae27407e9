"""Gradient tracking: workers follow the mean gradient, and so reach the minimum of all.

What workers differ by, zs, is in the start alone: of it nothing is left for large T.
"""

from __future__ import annotations

import sympy as sp

from theory.derivation import Proof
from theory.fixed_points import given, is_read, pull, shrink, steep, walk
from theory.forms import Atom, Claim, Form, Scalar, Vector
from theory.moves import unroll
from theory.potential import potential, step
from theory.radius import norm, whole
from theory.statement import Assumption, Measure, Source
from theory.symbols import symbol
from theory.theorem import Limit, Theorem

T, gam, L, mu, lam = (symbol(x) for x in ("T", "gam", "L", "mu", "lam"))
R2, zs, rho = (symbol(x) for x in ("R2", "zs", "rho"))

GONE = sp.Integer(-1)
V, V_NEXT = Scalar("V"), Scalar("V'")
APART = 2 * mu / (L * (1 - lam))  # weights in V of how models and headings differ
HEADING = mu / (2 * L**2)


def tracking(proof: Proof) -> sp.Expr:
    """V = |z| + APART |x~| + HEADING |y~| shrinks by 1 - gam mu/2, z = xbar - x*.

    ybar = gbar = h + ubar, h = grad f(xbar), u = grad f_i(x_i) - grad f_i(xbar). y' = W y + j, and
    the jump j of gradients is at most L times the move of x.
    """
    z, h, p, after = (Vector.mean(name) for name in ("z", "h", "p", "z'"))
    x, y, u, ubar = Vector.deviation("x"), Vector.deviation("y"), whole("u"), Vector.mean("u")
    own = steep(proof, u, x, ubar)
    closer = walk(proof, after, p - gam * ubar, shrink(proof, z, h, p), own)
    is_read(proof, closer, {norm(z): rho, norm(x): gam * L, norm(after): GONE})

    moved, x_next = Vector.deviation("x - gam y"), Vector.deviation("x'")
    nearer = proof.root(proof.axiom("mixing", moved, x_next))
    nearer = proof.substitute(nearer, walk(proof, moved, x - gam * y), norm(moved))
    is_read(proof, nearer, {norm(x): lam, norm(y): lam * gam, norm(x_next): GONE})

    j, jump, way = whole("j"), Vector.deviation("j"), whole("x' - x")
    along = walk(proof, way, x_next - x - gam * h - gam * ubar, nearer, own)
    along = proof.substitute(along, proof.root(proof.axiom("smooth", h, z)), norm(h))
    far = proof.substitute(steep(proof, j, way, jump), along, norm(way))
    mixed, y_next = Vector.deviation("W y"), Vector.deviation("y'")
    follows = proof.root(proof.axiom("mixing", y, mixed))
    follows = walk(proof, y_next, mixed + jump, follows, far)
    grown: dict[Atom, sp.Expr] = {norm(y_next): GONE}
    grown |= {norm(z): gam * L**2, norm(x): L * (1 + lam + gam * L), norm(y): lam * (1 + gam * L)}
    is_read(proof, follows, grown)
    return _adds_up(proof, (closer, nearer, follows), (z, x, y), (after, x_next, y_next))


def _adds_up(
    proof: Proof,
    moves: tuple[Claim, ...],
    here: tuple[Vector, ...],
    there: tuple[Vector, ...],
) -> sp.Expr:
    """With weights 1, APART and HEADING all columns of the three moves shrink."""
    weights = (sp.Integer(1), APART, HEADING)
    before = potential(proof, V, dict(zip(map(norm, here), weights, strict=True)))
    then = potential(proof, V_NEXT, dict(zip(map(norm, there), weights, strict=True)))
    for one, other, weight in zip(here, there, weights, strict=True):
        if before.form[norm(one)] != weight or then.form[norm(other)] != weight:
            proof.refuse("V' is not V after a step")
    parts = zip(moves, map(norm, there), strict=True)
    claim = step(proof, before, then, norm(here[0]), *parts)
    claim = Claim(Form({a: e.subs(rho, 1 - gam * mu) for a, e in claim.form.terms.items()}))
    for vector in here[1:]:
        claim = proof.absorb(claim, norm(vector))
    ends = unroll(proof, claim, V, V_NEXT, sp.sqrt(R2) + HEADING * _first(proof))
    return ends**2


def _first(proof: Proof) -> sp.Expr:
    """|y_0~| <= L |x_0 - x*| + sqrt(zs): gradients at the common start."""
    g, dev, w, star, z0 = whole("g0"), Vector.deviation("g0"), whole("w"), whole("g*"), whole("z0")
    first = walk(proof, g, w + star, steep(proof, w, z0), pull(proof, star))
    first = proof.substitute(proof.root(proof.axiom("shorter", g, dev)), first, norm(g))
    first = proof.substitute(first, given(proof, z0, sp.sqrt(R2)), norm(z0))
    return proof.isolate(first, norm(dev))


NEDIC = Source(
    "Nedic, Olshevsky, Shi",
    2017,
    "Achieving geometric convergence for distributed optimization over time-varying graphs",
    "arXiv:1607.03218; in its spirit; here adapt-then-combine, by a potential of lengths",
)
THEOREMS = (
    Theorem(
        name="gradient-tracking",
        source=NEDIC,
        measure=Measure.DIST,
        statement="Y_0 = G_0, X_{t+1} = W (X_t - gam Y_t), Y_{t+1} = W Y_t + G_{t+1} - G_t, "
        "without noise. Equal start. Workers may differ: mean Y = mean G, and of zs nothing is "
        "left.",
        assumes=frozenset(
            {
                *(Assumption.SMOOTH, Assumption.STRONGLY_CONVEX),
                *(Assumption.MIXING, Assumption.APART_AT_MINIMUM),
            }
        ),
        conditions=(4 * gam * L**2 <= mu * (1 - lam) ** 2,),
        bound=(1 - gam * mu / 2) ** (2 * T)
        * (sp.sqrt(R2) + HEADING * (L * sp.sqrt(R2) + sp.sqrt(zs))) ** 2,
        derive=tracking,
        # Half the step, twice the functions: only gam L, gam mu and kappa count.
        limits=(
            Limit("gradient-tracking", {gam: gam / 2, L: 2 * L, mu: 2 * mu, zs: 4 * zs}, target={}),
        ),
    ),
)
