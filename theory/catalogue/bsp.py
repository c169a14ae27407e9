"""Bulk-synchronous SGD: x <- x - gam (1/n) sum_i g_i(x), by a server or by an all-reduce."""

from __future__ import annotations

import sympy as sp

from theory import lemmas
from theory.derivation import Proof
from theory.forms import Scalar, Vector, inner
from theory.lemmas import NOISE, F, sq
from theory.moves import telescope, unroll, unroll_weighted
from theory.statement import INDEPENDENT_NOISE, Assumption, Measure, Source
from theory.symbols import symbol
from theory.theorem import Case, Limit, Theorem, Tuned
from theory.tuning import K, below, enlarge, log_step, power_step

n, T, t, gam, L, mu, a = (symbol(x) for x in ("n", "T", "t", "gam", "L", "mu", "a"))
Delta, R2, sigma2, rho = (symbol(x) for x in ("Delta", "R2", "sigma2", "rho"))

HALF = sp.Rational(1, 2)

X_NEXT = Scalar("X'")
z, g = Vector.mean("z"), Vector.mean("g")


def nonconvex(proof: Proof) -> sp.Expr:
    """Telescope the descent lemma."""
    claim = lemmas.descent(proof, slope=g, step=-gam * (g + NOISE.part("mean")))
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


GHADIMI_LAN = Source(
    "Ghadimi, Lan",
    2013,
    "Stochastic first- and zeroth-order methods for nonconvex stochastic programming",
    "arXiv:1309.5549; here with the factor 1/(2 - gam L), which is attained",
)
BOTTOU = Source(
    "Bottou, Curtis, Nocedal",
    2018,
    "Optimization methods for large-scale machine learning",
    "arXiv:1606.04838; here with the exact contraction factor of a gradient step",
)
NEMIROVSKI = Source(
    "Nemirovski, Juditsky, Lan, Shapiro",
    2009,
    "Robust stochastic approximation approach to stochastic programming",
    "here for smooth functions and bounded variance",
)

SHORT = Case("gam <= 2/(mu + L)", (gam * (mu + L) <= 2,), {rho: 1 - gam * mu})
LONG = Case("gam > 2/(mu + L)", (gam * (mu + L) > 2,), {rho: gam * L - 1})

# n workers with noise n sigma2 are one worker with noise sigma2: the linear speed-up.
SPEED_UP = {sigma2: n * sigma2}
TEXTBOOK = (1 - gam * mu) ** T * R2 + gam * sigma2 / (n * mu)

THEOREMS = (
    Theorem(
        name="bsp-nonconvex",
        source=GHADIMI_LAN,
        measure=Measure.GRADSQ_X,
        statement="x <- x - gam (1/n) sum_i g_i(x), by a server or by an all-reduce.",
        assumes=frozenset({Assumption.SMOOTH}) | INDEPENDENT_NOISE,
        conditions=(gam * L < 2,),
        bound=(2 * Delta / (gam * T) + gam * L * sigma2 / n) / (2 - gam * L),
        derive=nonconvex,
        tuned=Tuned(
            step=sp.Min(1 / L, sp.sqrt(2 * Delta * n / (L * T * sigma2))),
            value=2 * L * Delta / T + 2 * sp.sqrt(2 * L * Delta * sigma2 / (n * T)),
            rate_T=-HALF,
            rate_n=-HALF,
            compute=power_step(1 / L, enlarge((1 / (2 - gam * L), sp.Integer(1)))),
        ),
        limits=(Limit("bsp-nonconvex", SPEED_UP, target={n: 1}),),
        attained=True,
    ),
    Theorem(
        name="bsp-sc-const",
        source=BOTTOU,
        measure=Measure.DIST,
        statement="x <- x - gam (1/n) sum_i g_i(x), by a server or by an all-reduce.",
        assumes=frozenset({Assumption.SMOOTH, Assumption.STRONGLY_CONVEX}) | INDEPENDENT_NOISE,
        conditions=(gam * L < 2,),
        bound=rho ** (2 * T) * R2 + gam**2 * sigma2 / n * (1 - rho ** (2 * T)) / (1 - rho**2),
        where={rho: sp.Max(sp.Abs(1 - gam * mu), sp.Abs(1 - gam * L))},
        derive=strongly_convex,
        tuned=Tuned(
            step=sp.log(K) / (mu * T),
            value=sigma2 * (1 + sp.log(K)) / (n * mu**2 * T),
            rate_T=sp.Integer(-1),
            rate_n=sp.Integer(-1),
            compute=log_step(1 / L, below(TEXTBOOK)),
            assuming=(K >= 1, sp.log(K) * L <= mu * T),
        ),
        limits=(Limit("bsp-sc-const", SPEED_UP, target={n: 1}),),
        cases=(SHORT, LONG),
        attained=True,
    ),
    Theorem(
        name="bsp-sc-decreasing",
        source=BOTTOU,
        measure=Measure.DIST,
        statement="x <- x - gam_t (1/n) sum_i g_i(x) with gam_t = 1/(mu (t + a)).",
        assumes=frozenset({Assumption.SMOOTH, Assumption.STRONGLY_CONVEX}) | INDEPENDENT_NOISE,
        conditions=(a >= (L / mu + 1) / 2,),
        bound=((a - 1) ** 2 * R2 + T * sigma2 / (n * mu**2)) / (T + a - 1) ** 2,
        derive=decreasing,
        tuned=Tuned(
            step=1 / (mu * (t + a)),
            value=((a - 1) ** 2 * R2 + T * sigma2 / (n * mu**2)) / (T + a - 1) ** 2,
            rate_T=sp.Integer(-1),
            rate_n=sp.Integer(-1),
            compute=lambda theorem: (1 / (mu * (t + a)), theorem.bound),
        ),
        limits=(
            Limit("bsp-sc-decreasing", SPEED_UP, target={n: 1}),
            Limit("bsp-sc-const", {T: 1}, target={T: 1, gam: 1 / (mu * a)}),
        ),
        attained=True,
    ),
    Theorem(
        name="bsp-convex",
        source=NEMIROVSKI,
        measure=Measure.GAP,
        statement="x <- x - gam (1/n) sum_i g_i(x), by a server or by an all-reduce.",
        assumes=frozenset({Assumption.SMOOTH, Assumption.CONVEX}) | INDEPENDENT_NOISE,
        conditions=(gam * L <= 1,),
        bound=R2 / (2 * gam * T) + gam * sigma2 / (2 * n),
        derive=convex,
        tuned=Tuned(
            step=sp.Min(1 / L, sp.sqrt(R2 * n / (T * sigma2))),
            value=L * R2 / (2 * T) + sp.sqrt(R2 * sigma2 / (n * T)),
            rate_T=-HALF,
            rate_n=-HALF,
            compute=power_step(1 / L),
        ),
        limits=(Limit("bsp-convex", SPEED_UP, target={n: 1}),),
        attained=True,
    ),
)
