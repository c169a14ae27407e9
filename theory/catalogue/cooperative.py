"""Cooperative SGD: local steps, then gossip, on a convex function that workers share."""

from __future__ import annotations

import sympy as sp

from theory.catalogue.local_sgd_convex import D_NEXT, mean_gap, parting, z_dev
from theory.derivation import Proof
from theory.forms import Scalar, Vector
from theory.lemmas import sq
from theory.moves import unroll
from theory.rounds import average_line, repeat
from theory.statement import INDEPENDENT_NOISE, Assumption, Measure, Source
from theory.symbols import symbol
from theory.theorem import Limit, Theorem, Tuned
from theory.tuning import power_step

n, T, H, k, gam, L, lam = (symbol(x) for x in ("n", "T", "H", "k", "gam", "L", "lam"))
R2, sigma2 = symbol("R2"), symbol("sigma2")

HALF = sp.Rational(1, 2)
LAST = Scalar("D_H")


def convex_iid(proof: Proof) -> sp.Expr:
    """As local-sgd-convex-iid, from what gossip has left of D when a round begins."""
    step, mixed = parting(proof), Vector.deviation("x'")
    last = Vector.deviation("x")
    whole_round = repeat(proof, step, sq(z_dev), D_NEXT, sq(last))
    claim = proof.substitute(proof.axiom("mixing", last, mixed), whole_round, sq(last))
    left = unroll(proof, claim, sq(z_dev), sq(mixed), sp.Integer(0), forever=True)
    apart = unroll(proof, step, sq(z_dev), D_NEXT, left, steps=k)
    one = gam**2 * sigma2 * (1 - 1 / n)
    begun = one * lam**2 * H / (1 - lam**2)
    spread, proof.perturbation = average_line(proof, sq(z_dev), apart, begun, one)
    return mean_gap(proof, spread)


APART = gam**2 * sigma2 / 2 * (1 - 1 / n) * ((1 + lam**2) / (1 - lam**2) * H - 1)
DRIFT = L * sigma2 / 4 * (1 - 1 / n) * ((1 + lam**2) / (1 - lam**2) * H - 1)

WANG_JOSHI = Source(
    "Wang, Joshi",
    2018,
    "Cooperative SGD: a unified framework for the design and analysis of "
    "communication-efficient SGD algorithms",
    "arXiv:1808.07576; here for convex functions, with half of the last term",
)

THEOREMS = (
    Theorem(
        name="cooperative-sgd",
        source=WANG_JOSHI,
        measure=Measure.GAP,
        statement="x_i <- x_i - gam g_i(x_i); every H steps x_i <- sum_j W_ij x_j. Equal start.",
        assumes=frozenset(
            {Assumption.SMOOTH, Assumption.CONVEX, Assumption.EQUAL, Assumption.MIXING}
        )
        | INDEPENDENT_NOISE,
        conditions=(gam * L <= 1, sp.Eq(sp.Mod(T, H), 0)),
        bound=R2 / (2 * gam * T) + gam * sigma2 / (2 * n) + gam**2 * DRIFT,
        derive=convex_iid,
        perturbation=APART,
        tuned=Tuned(
            step=sp.Min(1 / L, sp.sqrt(R2 * n / (T * sigma2)), sp.cbrt(R2 / (2 * DRIFT * T))),
            value=L * R2 / (2 * T)
            + sp.sqrt(R2 * sigma2 / (n * T))
            + 2 * sp.cbrt(DRIFT) * sp.cbrt(R2 / (2 * T)) ** 2,
            rate_T=-HALF,
            rate_n=-HALF,
            compute=power_step(1 / L),
        ),
        limits=(
            Limit("local-sgd-convex-iid", {lam: sp.Integer(0)}),
            Limit("bsp-convex", {lam: sp.Integer(0), H: sp.Integer(1)}),
            Limit("bsp-convex", {n: sp.Integer(1)}),
        ),
    ),
)
