"""Gossip: workers average with their neighbours, X <- W X, W symmetric and doubly stochastic."""

from __future__ import annotations

import sympy as sp

from theory import lemmas
from theory.derivation import Proof
from theory.forms import ONE, Inner, Norm, Scalar, Vector
from theory.lemmas import sq
from theory.moves import unroll
from theory.symbols import symbol
from theory.theorem import Kind, Limit, Measure, Source, Theorem

n, T, gam, L, lam, C0 = (symbol(x) for x in ("n", "T", "gam", "L", "lam", "C0"))
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


APART = (lam * gam) ** 2 * (
    sp.sqrt(zeta2) / (1 - r) + sp.sqrt(sigma2 * (1 - 1 / n) / (1 - r**2))
) ** 2

THEOREMS = (
    Theorem(
        name="gossip-consensus",
        source=Source("", 0, ""),
        measure=Measure.CONSENSUS,
        statement="",
        conditions=(lam < 1,),
        bound=lam**T * C0,
        derive=contraction,
        attained=True,
    ),
    Theorem(
        name="dpsgd-nonconvex-atc",
        source=Source("", 0, ""),
        measure=Measure.GRADSQ,
        statement="",
        conditions=(gam * L <= 1, lam * (1 + gam * L) < 1),
        bound=2 * Delta / (gam * T) + gam * L * sigma2 / n + L**2 * APART,
        where={r: lam * (1 + gam * L)},
        derive=nonconvex_atc,
        perturbation=APART,
    ),
)
