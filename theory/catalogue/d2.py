"""D2: gossip that takes off what workers differ by, so that it reaches the minimum itself.

The bound of d2 is in E|x_i - x*|^2 plus a length of what is remembered. What workers differ by, zs,
is in the start alone, so nothing of it is left for large T, with noise or without. It needs a W
without negative eigenvalues, as (I + W)/2; d2-stability says how negative they may be at all.
"""

from __future__ import annotations

import sympy as sp

from theory import lemmas
from theory.algebra import is_zero
from theory.derivation import Proof
from theory.fixed_points import is_read
from theory.forms import ONE, Atom, Claim, Inner, Scalar, Vector
from theory.lemmas import NOISE, sq
from theory.moves import unroll
from theory.radius import whole
from theory.remembering import modes
from theory.statement import Assumption, Kind, Measure, Source
from theory.symbols import symbol
from theory.theorem import Case, Limit, Theorem

n, T, gam, L, mu, lam = (symbol(x) for x in ("n", "T", "gam", "L", "mu", "lam"))
R2, zs, sigma2, neg, r, tau = (symbol(x) for x in ("R2", "zs", "sigma2", "neg", "r", "tau"))

NOTHING, GONE = sp.Integer(0), sp.Integer(-1)
V, V_NEXT = Scalar("V"), Scalar("V'")


def d2(proof: Proof) -> sp.Expr:
    """V = |z|^2 + |y|^2 shrinks, z = X - x*, S y what is remembered of gam G.

    With S^2 = I - W: q = z - gam (g + xi) - S y, z' = q - S S q = W q, y' = y + S q. Products with
    S q are squares, and (z - gam g) is q + S y.
    """
    z, g, y = Vector.stack("z"), Vector.stack("g"), Vector.deviation("y")
    moved, sq_q, ssq = (Vector.deviation(x) for x in ("S y", "S q", "S S q"))
    q = z - gam * (g + NOISE) - moved
    turned = q - ssq
    after = proof.define(V_NEXT, turned.part("mean"), turned.part("deviation"), y + sq_q)
    cross = proof.axiom("symmetric", sq_q, ssq, q, sq_q)
    claim = proof.substitute(after, cross, _product(z, ssq))
    claim = proof.substitute(claim, proof.axiom("root_shrinks", sq_q, ssq), sq(ssq))
    claim = proof.substitute(claim, proof.axiom("symmetric", y, moved, q, sq_q), _product(y, sq_q))
    claim = lemmas.stack_noise(proof, lemmas.drop_noise(proof, claim))
    claim = proof.substitute(claim, proof.axiom("root_keeps", y, moved), sq(moved))

    cocoercive = proof.axiom("strongly_cocoercive", g, z)
    claim = proof.substitute(claim, cocoercive, _product(z.part("mean"), g.part("mean")))
    claim = proof.substitute(claim, proof.axiom("expanding", g, z), sq(g.part("mean")))
    read: dict[Atom, sp.Expr] = {sq(y): lam, ONE: gam**2 * sigma2, V_NEXT: GONE}
    read |= {sq(z.part(part)): (1 - gam * mu) ** 2 for part in ("mean", "deviation")}
    is_read(proof, claim, read)
    return _shrinking(proof, claim, z, y)


def _product(u: Vector, v: Vector) -> Inner:
    """Return the first product of u and v that does not vanish; the others go with it."""
    first = next((a, b) for a in u.terms for b in v.terms if a.part == b.part)
    return Inner(*sorted(first))


def _shrinking(proof: Proof, claim: Claim, z: Vector, y: Vector) -> sp.Expr:
    """V' <= max(rho^2, lam) V + noise; y_0 is no longer than gam g* over the root of 1 - lam."""
    named = proof.define(V, z.part("mean"), z.part("deviation"), y)
    slow = proof.domain.nonnegative((1 - gam * mu) ** 2 - lam)
    claim = proof.substitute(claim, named, sq(z.part("mean")) if slow else sq(y))
    for part in (y,) if slow else (z.part("mean"), z.part("deviation")):
        claim = proof.absorb(claim, sq(part))
    star, dev, y0 = whole("g*"), Vector.deviation("g*"), Vector.deviation("y0")
    first = proof.axiom("root_keeps", y0, gam * dev)
    first = proof.substitute(first, proof.axiom("shorter", star, dev), sq(dev))
    first = proof.substitute(first, proof.axiom("pull_at_minimum", star), sq(star))
    return unroll(proof, claim, V, V_NEXT, R2 + proof.isolate(first, sq(y0)))


def stability(proof: Proof) -> sp.Expr:
    """Eigenvalues from -1/3 on are stable whatever the step below 2/L; below, short steps fail."""
    needed = list(modes(proof))
    for condition in proof.domain.conditions:
        slack = condition.gts - condition.lts
        if not any(is_zero(slack - each) for each in needed):
            proof.refuse(f"{condition} is not what is needed: {needed}")
    growth = Scalar("growth")
    return proof.isolate(proof.axiom("settles", growth), growth)


TANG = Source(
    "Tang, Lian, Yan, Zhang, Liu",
    2018,
    "D2: decentralized training over decentralized data",
    "arXiv:1803.07068; for W without negative eigenvalues, as (I + W)/2; in the spirit of NIDS "
    "(Li, Shi, Yan 2019, arXiv:1704.07807), which is the same without noise",
)
LIMIT = Source(
    "Tang, Lian, Yan, Zhang, Liu",
    2018,
    "D2: decentralized training over decentralized data",
    "arXiv:1803.07068, whose assumption on W is this; here that it is needed, and enough",
)
ONE_MODEL = {lam: NOTHING, neg: NOTHING, zs: NOTHING}
FASTER = Case("lam <= (1 - gam mu)^2", (lam <= (1 - gam * mu) ** 2,), {r: (1 - gam * mu) ** 2})
SLOWER = Case("lam > (1 - gam mu)^2", (lam > (1 - gam * mu) ** 2,), {r: lam})

THEOREMS = (
    Theorem(
        name="d2",
        source=TANG,
        measure=Measure.DIST_X,
        statement="X_1 = W (X_0 - gam G_0), X_{t+1} = W (2 X_t - X_{t-1} - gam (G_t - G_{t-1})). "
        "Equal start. Workers may differ: of zs nothing is left.",
        assumes=frozenset(
            {
                *(Assumption.SMOOTH, Assumption.STRONGLY_CONVEX, Assumption.APART_AT_MINIMUM),
                *(Assumption.MIXING, Assumption.POSITIVE),
                *(Assumption.UNBIASED, Assumption.VARIANCE),
            }
        ),
        conditions=(gam * (mu + L) <= 2, sp.Eq(neg, 0, evaluate=False)),
        bound=r**T * (R2 + gam**2 * zs / (1 - lam)) + gam**2 * sigma2 * (1 - r**T) / (1 - r),
        where={r: sp.Max((1 - gam * mu) ** 2, lam)},
        derive=d2,
        limits=(
            Limit("bsp-sc-const", ONE_MODEL, target={n: sp.Integer(1)}),
            Limit("bsp-sc-const", ONE_MODEL, Kind.IMPLIED_BY),
        ),
        cases=(FASTER, SLOWER),
    ),
    Theorem(
        name="d2-stability",
        source=LIMIT,
        measure=Measure.GROWTH_X,
        statement="As d2, without noise. Below -1/3 an eigenvalue of W makes models grow without "
        "end for short steps; a ring of even length and weights 1/3 is at that limit.",
        assumes=frozenset({Assumption.QUADRATIC, Assumption.ALIKE, Assumption.SYMMETRIC}),
        conditions=(3 * neg <= 1, gam * L < 2),
        bound=sp.Integer(1),
        derive=stability,
        limits=(Limit("delay-stability", {neg: NOTHING}, target={tau: NOTHING}),),
        attained=True,
    ),
)
