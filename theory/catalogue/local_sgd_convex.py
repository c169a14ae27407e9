"""Local SGD on convex functions that workers share: where averaging less often is cheap."""

from __future__ import annotations

import sympy as sp

from theory import lemmas
from theory.derivation import Proof
from theory.forms import Claim, Scalar, Vector, inner
from theory.lemmas import NOISE, F, sq
from theory.moves import average, telescope, unroll
from theory.statement import INDEPENDENT_NOISE, Assumption, Kind, Measure, Source
from theory.symbols import symbol
from theory.theorem import Limit, Theorem, Tuned
from theory.tuning import K, enlarge, log_step, power_step

n, T, H, k, gam, L, mu = (symbol(x) for x in ("n", "T", "H", "k", "gam", "L", "mu"))
R2, sigma2 = symbol("R2"), symbol("sigma2")

HALF = sp.Rational(1, 2)
X_NEXT, D_NEXT = Scalar("X'"), Scalar("D'")

z, g = Vector.stack("z"), Vector.stack("g")
zbar, z_dev = z.part("mean"), z.part("deviation")
gbar, g_dev = g.part("mean"), g.part("deviation")


def parting(proof: Proof) -> Claim:
    """D = (1/n) sum_i E|x_i - xbar|^2 in a step of its own: only the noise adds to it."""
    spread = proof.define(D_NEXT, z_dev - gam * (g_dev + NOISE.part("deviation")))
    spread = lemmas.deviation_noise(proof, lemmas.drop_noise(proof, spread))
    return lemmas.nonexpansive(proof, spread, z_dev, g_dev)


def _walk(proof: Proof, steps: sp.Expr) -> sp.Expr:
    """D after `steps` steps of a round."""
    return unroll(proof, parting(proof), sq(z_dev), D_NEXT, sp.Integer(0), steps=steps)


def convex_iid(proof: Proof) -> sp.Expr:
    """As bsp-convex at xbar."""
    spread, proof.perturbation = average(proof, sq(z_dev), _walk(proof, k), APART)
    return mean_gap(proof, spread)


def mean_gap(proof: Proof, spread: Claim) -> sp.Expr:
    """The average of f(xbar) - f*; that gradients are taken at x_i costs (L/2) D."""
    claim = proof.define(X_NEXT, zbar - gam * (gbar + NOISE.part("mean")))
    claim = lemmas.mean_noise(proof, lemmas.drop_noise(proof, claim))
    (cross,) = inner(zbar, gbar).terms
    gaps = Scalar("mean_i f(x_i) - f*")
    claim = proof.substitute(claim, proof.axiom("convex_smooth_gap", gaps, g, z), cross)
    claim = proof.substitute(claim, proof.axiom("descent", gaps, F, g, -z_dev), gaps)
    claim = proof.absorb(claim, sq(gbar), at={gam: 1 / L})
    claim = proof.absorb(claim, sq(g_dev))
    claim = telescope(proof, claim, sq(zbar), X_NEXT, R2)
    return proof.isolate(proof.substitute(claim, spread, sq(z_dev)), F)


def strongly_convex_iid(proof: Proof) -> sp.Expr:
    """Equal functions: D grows by the noise only; the mean contracts by 1 - gam mu."""
    worst = _walk(proof, H - 1)

    gaps, lowest = Scalar("mean_i f(x_i) - f*"), Scalar("f(y) - f*")
    claim = proof.define(X_NEXT, zbar - gam * (gbar + NOISE.part("mean")))
    claim = lemmas.mean_noise(proof, lemmas.drop_noise(proof, claim))
    (cross,) = inner(zbar, gbar).terms
    curved = proof.absorb(proof.axiom("strong_convex_gap", gaps, g, z), sq(z_dev))
    claim = proof.substitute(claim, curved, cross)
    claim = proof.substitute(claim, proof.axiom("descent", gaps, F, g, -z_dev), gaps)
    # f* <= f(y), y = xbar - gbar / L, gives |gbar|^2 <= 2 L (f(xbar) - f*) + L^2 D.
    below = proof.axiom("descent", gaps, lowest, g, -z_dev - 1 / L * gbar)
    below = proof.substitute(below, proof.axiom("convex_lower", gaps, F, g, -z_dev), gaps)
    below = proof.absorb(below, lowest)
    claim = proof.substitute(claim, below, sq(gbar))
    claim = proof.absorb(claim, F, at={gam: 1 / L})
    claim = proof.substitute(claim, proof.bounded(sq(z_dev), worst, "within a round"), sq(z_dev))
    return unroll(proof, claim, sq(zbar), X_NEXT, R2, forever=True)


APART = gam**2 * sigma2 * (1 - 1 / n) * (H - 1) / 2
DRIFT = L * sigma2 * (1 - 1 / n) * (H - 1) / 4

KHALED = Source(
    "Khaled, Mishchenko, Richtarik",
    2020,
    "Tighter theory for local SGD on identical and heterogeneous data",
    "arXiv:1909.04746; smaller constants",
)

THEOREMS = (
    Theorem(
        name="local-sgd-convex-iid",
        source=KHALED,
        measure=Measure.GAP,
        statement="x_i <- x_i - gam g_i(x_i); every H steps x_i <- mean_j x_j. Equal start.",
        assumes=frozenset({Assumption.SMOOTH, Assumption.CONVEX, Assumption.EQUAL})
        | INDEPENDENT_NOISE,
        conditions=(gam * L <= 1, sp.Eq(sp.Mod(T, H), 0)),
        bound=R2 / (2 * gam * T) + gam * sigma2 / (2 * n) + gam**2 * DRIFT,
        derive=convex_iid,
        perturbation=APART,
        tuned=Tuned(
            step=sp.Min(
                1 / L,
                sp.sqrt(R2 * n / (T * sigma2)),
                sp.cbrt(R2 / (2 * DRIFT * T)),
            ),
            value=L * R2 / (2 * T)
            + sp.sqrt(R2 * sigma2 / (n * T))
            + 2 * sp.cbrt(DRIFT) * sp.cbrt(R2 / (2 * T)) ** 2,
            rate_T=-HALF,
            rate_n=-HALF,
            compute=power_step(1 / L),
        ),
        limits=(
            Limit("bsp-convex", {H: 1}),
            Limit("bsp-convex", {n: 1}, target={n: 1}),
        ),
    ),
    Theorem(
        name="local-sgd-sc-iid",
        source=KHALED,
        measure=Measure.DIST,
        statement="x_i <- x_i - gam g_i(x_i); every H steps x_i <- mean_j x_j. Equal start.",
        assumes=frozenset(
            {Assumption.SMOOTH, Assumption.CONVEX, Assumption.STRONGLY_CONVEX, Assumption.EQUAL}
        )
        | INDEPENDENT_NOISE,
        conditions=(gam * L <= 1,),
        bound=(1 - gam * mu) ** T * R2
        + gam * sigma2 / (n * mu)
        + gam**2 * (L / mu) * (1 + gam * L) * sigma2 * (H - 1) * (1 - 1 / n),
        derive=strongly_convex_iid,
        tuned=Tuned(
            step=sp.log(K) / (mu * T),
            value=sigma2 * (1 + sp.log(K)) / (n * mu**2 * T)
            + 2 * L * sigma2 * (H - 1) * (1 - 1 / n) * sp.log(K) ** 2 / (mu**3 * T**2),
            rate_T=sp.Integer(-1),
            rate_n=sp.Integer(-1),
            compute=log_step(1 / L, enlarge((1 + gam * L, sp.Integer(2)))),
            assuming=(K >= 1, sp.log(K) * L <= mu * T),
        ),
        limits=(
            Limit("bsp-sc-const", {H: 1}, Kind.IMPLIED_BY),
            Limit("bsp-sc-const", {n: 1}, Kind.IMPLIED_BY),
        ),
        equivalent={
            f"descent#2.f(y) {kind}": "of f(y) only f(y) >= f* is used, so its factor is free"
            for kind in ("doubled", "dropped")
        },
    ),
)
