"""Gossip: workers average with their neighbours, X <- W X, W doubly stochastic."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from theory import lemmas
from theory.derivation import Proof
from theory.forms import Norm, Vector
from theory.moves import unroll
from theory.statement import INDEPENDENT_NOISE, Assumption, Kind, Measure, Source
from theory.symbols import symbol
from theory.theorem import Limit, Theorem, Tuned
from theory.tuning import enlarge, power_step

n, T, H, gam, L, lam, C0 = (symbol(x) for x in ("n", "T", "H", "gam", "L", "lam", "C0"))
Delta, sigma2, zeta2, r = (symbol(x) for x in ("Delta", "sigma2", "zeta2", "r"))


def contraction(proof: Proof) -> sp.Expr:
    """Unroll the norm of the deviation."""
    x, mixed = Vector.deviation("x"), Vector.deviation("x'")
    claim = proof.root(proof.axiom("mixing", x, mixed))
    return unroll(proof, claim, Norm(*x.terms), Norm(*mixed.terms), C0)


def nonconvex_atc(proof: Proof) -> sp.Expr:
    """Descent at xbar; gossip after each step keeps the models together."""
    atom, growth = lemmas.consensus(proof, gossip=True)
    proof.perturbation = growth.squared
    return lemmas.perturbed(proof, proof.bounded(atom, growth.squared, "for all t"), atom)


def nonconvex_cta(proof: Proof) -> sp.Expr:
    """As `nonconvex_atc`; a step's own drift and noise are not mixed before they are seen."""
    atom, growth = lemmas.consensus(proof, gossip=True, first=True)
    proof.perturbation = growth.squared
    return lemmas.perturbed(proof, proof.bounded(atom, growth.squared, "for all t"), atom)


HALF = sp.Rational(1, 2)

APART = (lam * gam) ** 2 * (
    sp.sqrt(zeta2) / (1 - r) + sp.sqrt(sigma2 * (1 - 1 / n) / (1 - r**2))
) ** 2

APART_CTA = APART / lam**2

XIAO_BOYD = Source("Xiao, Boyd", 2004, "Fast linear iterations for distributed averaging")
LIAN = Source(
    "Lian, Zhang, Zhang, Hsieh, Zhang, Liu",
    2017,
    "Can decentralized algorithms outperform centralized algorithms? A case study for "
    "decentralized parallel stochastic gradient descent",
    "arXiv:1705.09056; here adapt-then-combine, explicit constants by the pq-lemma",
)

LIAN_CTA = replace(LIAN, reference="arXiv:1705.09056; explicit constants by the pq-lemma")

REACH = lam * (1 + gam * L)
NEAR = (
    L**2
    * lam**2
    * (2 * sp.sqrt(zeta2) / (1 - lam) + sp.sqrt(2 * sigma2 * (1 - 1 / n) / (1 - lam))) ** 2
)

REACH_CTA = lam + gam * L
NEAR_CTA = NEAR / lam**2

LEADING = 2 * Delta / (gam * T) + gam * L * sigma2 / n

THEOREMS = (
    Theorem(
        name="gossip-consensus",
        source=XIAO_BOYD,
        measure=Measure.CONSENSUS,
        statement="X <- W X.",
        assumes=frozenset({Assumption.MIXING}),
        conditions=(),
        bound=lam**T * C0,
        derive=contraction,
        limits=(Limit("gossip-consensus", {T: 2 * T}, target={C0: lam**T * C0}),),
        attained=True,
    ),
    Theorem(
        name="dpsgd-nonconvex-atc",
        source=LIAN,
        measure=Measure.GRADSQ,
        statement="X <- W (X - gam G(X)): step, then gossip. Equal start.",
        assumes=frozenset({Assumption.SMOOTH, Assumption.HETEROGENEITY, Assumption.MIXING})
        | INDEPENDENT_NOISE,
        conditions=(gam * L <= 1, lam * (1 + gam * L) < 1),
        bound=LEADING + L**2 * APART,
        where={r: REACH},
        derive=nonconvex_atc,
        perturbation=APART,
        tuned=Tuned(
            step=sp.Min(
                (1 - lam) / (2 * L),
                sp.sqrt(2 * Delta * n / (L * T * sigma2)),
                sp.cbrt(2 * Delta / (NEAR * T)),
            ),
            value=4 * Delta * L / ((1 - lam) * T)
            + 2 * sp.sqrt(2 * L * Delta * sigma2 / (n * T))
            + 2 * sp.cbrt(NEAR) * sp.cbrt(2 * Delta / T) ** 2,
            rate_T=-HALF,
            rate_n=-HALF,
            compute=power_step(
                (1 - lam) / (2 * L),
                enlarge((1 / (1 - REACH), 2 / (1 - lam)), (1 / (1 - REACH**2), 2 / (1 - lam))),
            ),
        ),
        limits=(
            Limit("bsp-nonconvex", {lam: 0}, Kind.IMPLIED_BY),
            Limit("bsp-nonconvex", {n: 1, zeta2: 0}, Kind.IMPLIED_BY),
            Limit("local-sgd-nonconvex", {lam: 0}, target={H: 1}),
        ),
    ),
    Theorem(
        name="dpsgd-nonconvex-cta",
        source=LIAN_CTA,
        measure=Measure.GRADSQ,
        statement="X <- W X - gam G(X): gossip and step at once. Equal start.",
        assumes=frozenset({Assumption.SMOOTH, Assumption.HETEROGENEITY, Assumption.MIXING})
        | INDEPENDENT_NOISE,
        conditions=(lam + gam * L < 1,),
        bound=LEADING + L**2 * APART_CTA,
        where={r: REACH_CTA},
        derive=nonconvex_cta,
        perturbation=APART_CTA,
        tuned=Tuned(
            step=sp.Min(
                (1 - lam) / (2 * L),
                sp.sqrt(2 * Delta * n / (L * T * sigma2)),
                sp.cbrt(2 * Delta / (NEAR_CTA * T)),
            ),
            value=4 * Delta * L / ((1 - lam) * T)
            + 2 * sp.sqrt(2 * L * Delta * sigma2 / (n * T))
            + 2 * sp.cbrt(NEAR_CTA) * sp.cbrt(2 * Delta / T) ** 2,
            rate_T=-HALF,
            rate_n=-HALF,
            compute=power_step(
                (1 - lam) / (2 * L),
                enlarge(
                    (1 / (1 - REACH_CTA), 2 / (1 - lam)), (1 / (1 - REACH_CTA**2), 2 / (1 - lam))
                ),
            ),
        ),
        limits=(
            Limit("bsp-nonconvex", {lam: 0}, Kind.IMPLIED_BY),
            Limit("bsp-nonconvex", {n: 1, zeta2: 0}, Kind.IMPLIED_BY),
        ),
    ),
)
