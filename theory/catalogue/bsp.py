"""Bulk-synchronous SGD: x <- x - gam (1/n) sum_i g_i(x), by a server or by an all-reduce."""

from __future__ import annotations

import sympy as sp

from theory import lemmas
from theory.derivation import Proof
from theory.forms import ONE, Scalar, Vector, inner
from theory.lemmas import NOISE, F, sq
from theory.moves import telescope, unroll, unroll_weighted
from theory.symbols import symbol
from theory.theorem import Case, Kind, Limit, Measure, Source, Theorem

n, T, t, gam, L, mu, a = (symbol(x) for x in ("n", "T", "t", "gam", "L", "mu", "a"))
Delta, R2, sigma2, rho = (symbol(x) for x in ("Delta", "R2", "sigma2", "rho"))

X, X_NEXT = Scalar("X"), Scalar("X'")
z, g = Vector.mean("z"), Vector.mean("g")


def nonconvex(proof: Proof) -> sp.Expr:
    """Telescope the descent lemma."""
    claim = lemmas.descent(proof, slope=g, direction=g)
    claim = telescope(proof, claim, F, lemmas.F_NEXT, Delta)
    return proof.isolate(claim, sq(g))


def strongly_convex(proof: Proof) -> sp.Expr:
    """Unroll |z - gam g|^2 + noise, z = x - x*."""
    claim = proof.define(X_NEXT, z - gam * (g + NOISE.part("mean")))
    claim = lemmas.mean_noise(proof, lemmas.drop_noise(proof, claim))
    claim = lemmas.gradient_step(proof, claim, z, g)
    return unroll(proof, claim, sq(z), X_NEXT, R2)


def decreasing(proof: Proof) -> sp.Expr:
    """As `strongly_convex`, with gam_t = 1 / (mu (t + a)) short enough for every t."""
    step = 1 / (mu * (t + a))
    claim = proof.define(X_NEXT, z - step * (g + NOISE.part("mean")))
    claim = lemmas.mean_noise(proof, lemmas.drop_noise(proof, claim))
    claim = lemmas.gradient_step(proof, claim, z, g)
    return unroll_weighted(proof, claim, sq(z), X_NEXT, R2, weight=(t + a - 1) ** 2)


def convex(proof: Proof) -> sp.Expr:
    """Telescope the distance to the minimizer; the gap at x_t comes out of <g, z>."""
    claim = proof.define(X_NEXT, z - gam * (g + NOISE.part("mean")))
    claim = lemmas.mean_noise(proof, lemmas.drop_noise(proof, claim))
    (cross,) = inner(z, g).terms
    claim = proof.substitute(claim, proof.axiom("convex_smooth_gap", F, g, z), cross)
    claim = proof.absorb(claim, sq(g), at={gam: 1 / L})
    return proof.isolate(telescope(proof, claim, sq(z), X_NEXT, R2), F)


SHORT = Case("gam <= 2/(mu + L)", (gam * (mu + L) <= 2,), {rho: 1 - gam * mu})
LONG = Case("gam >= 2/(mu + L)", (gam * (mu + L) >= 2,), {rho: gam * L - 1})

THEOREMS = (
    Theorem(
        name="bsp-nonconvex",
        source=Source("Ghadimi, Lan", 2013, "Stochastic first- and zeroth-order methods", "sharpened"),
        measure=Measure.GRADSQ_X,
        statement="",
        conditions=(gam * L < 2,),
        bound=(2 * Delta / (gam * T) + gam * L * sigma2 / n) / (2 - gam * L),
        derive=nonconvex,
        attained=True,
    ),
    Theorem(
        name="bsp-sc-const",
        source=Source("", 0, ""),
        measure=Measure.DIST,
        statement="",
        conditions=(gam * L < 2,),
        bound=rho ** (2 * T) * R2 + gam**2 * sigma2 / n * (1 - rho ** (2 * T)) / (1 - rho**2),
        where={rho: sp.Max(sp.Abs(1 - gam * mu), sp.Abs(1 - gam * L))},
        derive=strongly_convex,
        cases=(SHORT, LONG),
        attained=True,
    ),
    Theorem(
        name="bsp-sc-decreasing",
        source=Source("", 0, ""),
        measure=Measure.DIST,
        statement="",
        conditions=(a >= (L / mu + 1) / 2,),
        bound=((a - 1) ** 2 * R2 + T * sigma2 / (n * mu**2)) / (T + a - 1) ** 2,
        derive=decreasing,
        attained=True,
    ),
    Theorem(
        name="bsp-convex",
        source=Source("", 0, ""),
        measure=Measure.GAP,
        statement="",
        conditions=(gam * L <= 1,),
        bound=R2 / (2 * gam * T) + gam * sigma2 / (2 * n),
        derive=convex,
        attained=True,
    ),
)
