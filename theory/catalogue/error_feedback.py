"""Error feedback: what a biased compressor leaves out is added to the next message."""

from __future__ import annotations

import sympy as sp

from theory import lemmas
from theory.derivation import Proof
from theory.forms import ONE, Scalar, Vector, inner
from theory.lemmas import NOISE, F, sq
from theory.moves import telescope
from theory.symbols import symbol
from theory.theorem import Kind, Limit, Measure, Source, Theorem

n, T, gam, L, delta = (symbol(x) for x in ("n", "T", "gam", "L", "delta"))
Delta, sigma2, zeta2 = (symbol(x) for x in ("Delta", "sigma2", "zeta2"))


def nonconvex(proof: Proof) -> sp.Expr:
    """Descent at v = x - mean e, which moves by the plain mean gradient at x."""
    h, e, u, memory = Vector.mean("h"), Vector.stack("e"), Vector.mean("u"), Scalar("E")
    ebar = e.part("mean")
    kept = lemmas.error_memory(proof, h, e, memory)

    claim = lemmas.descent(proof, slope=h - u, direction=h)
    (cross,) = inner(h, u).terms
    claim = proof.substitute(claim, proof.axiom("square", h - u), cross)
    claim = proof.substitute(claim, proof.axiom("smooth", u, ebar), sq(u))
    total = proof.define(memory, ebar, e.part("deviation"))
    claim = proof.absorb(proof.substitute(claim, total, sq(ebar)), sq(e.part("deviation")))
    claim = telescope(proof, claim, F, lemmas.F_NEXT, Delta)
    bound = proof.isolate(proof.substitute(claim, kept, memory), sq(h))

    reached = proof.bounded(sq(h), bound, "the bound")
    proof.perturbation = proof.isolate(proof.substitute(kept, reached, sq(h)), memory)
    return bound


KEPT = 4 * gam**2 * L**2 * (1 - delta) / delta**2

BOUND = (
    2 * Delta / (gam * T)
    + gam * L * sigma2 / n
    + gam**2 * L**2 * (1 - delta) * (4 * zeta2 / delta**2 + 2 * sigma2 / delta)
) / (1 - gam * L - KEPT)

THEOREMS = (
    Theorem(
        name="ef-sgd-nonconvex",
        source=Source("", 0, ""),
        measure=Measure.GRADSQ_X,
        statement="",
        conditions=(gam * L + KEPT < 1,),
        bound=BOUND,
        derive=nonconvex,
        perturbation=gam**2 * (1 - delta) * (4 * (BOUND + zeta2) / delta**2 + 2 * sigma2 / delta),
    ),
)
