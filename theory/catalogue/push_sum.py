"""Push-sum: averaging over links one way, where nobody can keep the mean by what it hears alone."""

from __future__ import annotations

import sympy as sp

from theory.derivation import Proof
from theory.fixed_points import given
from theory.moves import unroll
from theory.radius import norm, whole
from theory.statement import Assumption, Measure, Source
from theory.symbols import symbol
from theory.theorem import Limit, Theorem

T, lam, C0, skew = (symbol(x) for x in ("T", "lam", "C0", "skew"))


def reading(proof: Proof) -> sp.Expr:
    """What shrinks is s = (x - w xbar)/sqrt(phi); z - xbar is s sqrt(phi)/w."""
    s, mixed, z, first = (whole(name) for name in ("s", "s'", "z", "z0"))
    claim = proof.root(proof.axiom("sharing", s, mixed))
    begin = proof.substitute(
        proof.root(proof.axiom("written_in", s, first)), given(proof, first, C0), norm(first)
    )
    apart = unroll(proof, claim, norm(s), norm(mixed), proof.isolate(begin, norm(s)))
    told = proof.bounded(norm(s), apart, "after T sharings")
    read = proof.substitute(proof.root(proof.axiom("read_out", s, z)), told, norm(s))
    return proof.isolate(read, norm(z))


KEMPE = Source(
    "Kempe, Dobra, Gehrke",
    2003,
    "Gossip-based computation of aggregate information",
    "FOCS 2003; with gradients Assran, Loizou, Ballas, Rabbat 2019, arXiv:1811.10792; here in the "
    "norm of phi, in which one step contracts",
)

THEOREMS = (
    Theorem(
        name="push-sum",
        source=KEMPE,
        measure=Measure.CONSENSUS,
        statement="X <- P X, w <- P w, w_0 = 1; workers read Z = X/w, of which the bound speaks. "
        "Sums of X and w stay; X alone tends to n phi xbar, not to xbar.",
        assumes=frozenset({Assumption.SHARING, Assumption.WEIGHTS}),
        conditions=(),
        bound=skew * lam**T * C0,
        derive=reading,
        # Where rows add up to 1 too, w stays 1; and one may begin again at any time.
        limits=(Limit("gossip-consensus", {skew: sp.Integer(1)}),),
    ),
)
