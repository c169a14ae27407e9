"""Local SGD: every worker steps alone, x_i <- x_i - gam g_i(x_i); every H steps all average.

Without convexity; with it: `local_sgd_convex`.
"""

from __future__ import annotations

import sympy as sp

from theory import lemmas
from theory.derivation import Proof, Refused
from theory.moves import average
from theory.positivity import Domain
from theory.statement import INDEPENDENT_NOISE, Assumption, Kind, Measure, Source
from theory.symbols import symbol
from theory.theorem import Limit, Theorem, Tuned
from theory.tuning import power_step

n, T, H, k, gam, L = (symbol(x) for x in ("n", "T", "H", "k", "gam", "L"))
Delta, sigma2, zeta2 = (symbol(x) for x in ("Delta", "sigma2", "zeta2"))

HALF = sp.Rational(1, 2)

# Step k of a round: sqrt(D_k) <= DRIFT + SPREAD.
GROWTH = 1 + gam * L
DRIFT = sp.sqrt(zeta2) * (GROWTH**k - 1) / L
SPREAD = gam * sp.sqrt(sigma2 * (1 - 1 / n) * (GROWTH ** (2 * k) - 1) / (GROWTH**2 - 1))
APART = sp.Sum((DRIFT + SPREAD) ** 2, (k, 0, H - 1)) / H
# The same average for zeta2 = 0; (H - 1)/2 times gam^2 sigma2 (1 - 1/n) as gam L -> 0.
APART_IID = (
    gam**2
    * sigma2
    * (1 - 1 / n)
    * ((GROWTH ** (2 * H) - 1) / (GROWTH**2 - 1) - H)
    / (H * (GROWTH**2 - 1))
)
BSP = 2 * Delta / (gam * T) + gam * L * sigma2 / n


def nonconvex(proof: Proof) -> sp.Expr:
    """Descent at xbar; the gradient differs from grad f(xbar) by at most L sqrt(D)."""
    atom, growth = lemmas.consensus(proof)
    spread, proof.perturbation = average(proof, atom, growth.squared)
    return lemmas.perturbed(proof, spread, atom)


def nonconvex_iid(proof: Proof) -> sp.Expr:
    """As `nonconvex`, for equal functions: the average over a round has a closed form."""
    atom, growth = lemmas.consensus(proof, iid=True)
    spread, proof.perturbation = average(proof, atom, growth.squared, APART_IID)
    return lemmas.perturbed(proof, spread, atom)


def short_rounds(bound: sp.Expr, domain: Domain) -> sp.Expr:
    """Replace the average over a round by a polynomial in H, for gam L (H - 1) <= 1/4.

    (DRIFT + SPREAD)^2 <= 2 DRIFT^2 + 2 SPREAD^2, and r^k - 1 <= k (r - 1) r^(k-1) (identity
    `growth`) for r = GROWTH and r^2, where r^k <= exp(gam L (H - 1)) <= exp(1/4).
    """
    if not domain.nonnegative(sp.Rational(1, 4) - gam * L * (H - 1)):
        raise Refused("rounds are not short")
    top = sp.exp(HALF)
    drift2 = (DRIFT.subs(GROWTH**k, 1 + k * gam * L)) ** 2 * top
    spread2 = (SPREAD**2).subs(GROWTH ** (2 * k), 1 + k * (GROWTH**2 - 1) * top)
    total = sp.summation(sp.expand(sp.cancel(2 * drift2 + 2 * spread2)), (k, 0, H - 1))
    return bound.subs(APART, sp.factor(total) / H)


ROUNDS = (
    2
    * sp.exp(HALF)
    * L**2
    * (zeta2 * (H - 1) * (2 * H - 1) / 6 + sigma2 * (1 - 1 / n) * (H - 1) / 2)
)

KOLOSKOVA = Source(
    "Koloskova, Loizou, Boreiri, Jaggi, Stich",
    2020,
    "A unified theory of decentralized SGD with changing topology and local updates",
    "arXiv:2003.10422; explicit constants by the pq-lemma",
)
WANG_JOSHI = Source(
    "Wang, Joshi",
    2018,
    "Cooperative SGD: a unified framework for the design and analysis of "
    "communication-efficient SGD algorithms",
    "arXiv:1808.07576; explicit constants by the pq-lemma",
)
THEOREMS = (
    Theorem(
        name="local-sgd-nonconvex",
        source=KOLOSKOVA,
        measure=Measure.GRADSQ,
        statement="x_i <- x_i - gam g_i(x_i); every H steps x_i <- mean_j x_j. Equal start. "
        "Vacuous for gam L H > 3.",
        assumes=frozenset({Assumption.SMOOTH, Assumption.HETEROGENEITY}) | INDEPENDENT_NOISE,
        conditions=(gam * L <= 1, sp.Eq(sp.Mod(T, H), 0)),
        bound=BSP + L**2 * APART,
        derive=nonconvex,
        perturbation=APART,
        tuned=Tuned(
            step=sp.Min(
                1 / (4 * L * H),
                sp.sqrt(2 * Delta * n / (L * T * sigma2)),
                sp.cbrt(2 * Delta / (ROUNDS * T)),
            ),
            value=8 * Delta * L * H / T
            + 2 * sp.sqrt(2 * L * Delta * sigma2 / (n * T))
            + 2 * sp.cbrt(ROUNDS) * sp.cbrt(2 * Delta / T) ** 2,
            rate_T=-HALF,
            rate_n=-HALF,
            compute=power_step(1 / (4 * L * H), short_rounds),
        ),
        limits=(
            Limit("bsp-nonconvex", {H: 1}, Kind.IMPLIED_BY),
            Limit("bsp-nonconvex", {n: 1, zeta2: 0}, Kind.IMPLIED_BY),
            Limit("local-sgd-nonconvex-iid", {zeta2: 0}),
        ),
    ),
    Theorem(
        name="local-sgd-nonconvex-iid",
        source=WANG_JOSHI,
        measure=Measure.GRADSQ,
        statement="x_i <- x_i - gam g_i(x_i); every H steps x_i <- mean_j x_j. Equal start.",
        assumes=frozenset({Assumption.SMOOTH, Assumption.EQUAL}) | INDEPENDENT_NOISE,
        conditions=(gam * L <= 1, sp.Eq(sp.Mod(T, H), 0)),
        bound=BSP + L**2 * APART_IID,
        derive=nonconvex_iid,
        perturbation=APART_IID,
        limits=(
            Limit("bsp-nonconvex", {H: 1}, Kind.IMPLIED_BY),
            Limit("bsp-nonconvex", {n: 1}, Kind.IMPLIED_BY),
        ),
        equivalent={
            f"minkowski#1.w~ {kind}": "equal functions have w = 0, whatever its factor"
            for kind in ("doubled", "negated")
        },
    ),
)
