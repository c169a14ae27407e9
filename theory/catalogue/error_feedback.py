"""Error feedback: what a biased compressor leaves out is added to the next message."""

from __future__ import annotations

import sympy as sp

from theory import lemmas
from theory.derivation import Proof
from theory.forms import Scalar, Vector, inner
from theory.lemmas import NOISE, F, sq
from theory.moves import telescope
from theory.statement import INDEPENDENT_NOISE, Assumption, Kind, Measure, Source
from theory.symbols import symbol
from theory.theorem import Limit, Theorem, Tuned
from theory.tuning import enlarge, power_step

n, T, gam, L, delta = (symbol(x) for x in ("n", "T", "gam", "L", "delta"))
Delta, sigma2, zeta2 = (symbol(x) for x in ("Delta", "sigma2", "zeta2"))

HALF = sp.Rational(1, 2)


def nonconvex(proof: Proof) -> sp.Expr:
    """Descent at v = x - mean e, which moves by the mean gradient at x, whatever is sent."""
    h, e, u, memory = Vector.mean("h"), Vector.stack("e"), Vector.mean("u"), Scalar("E")
    ebar, sent = e.part("mean"), Vector.mean("C(p)")
    kept = lemmas.error_memory(proof, h, e, memory)

    pushed = ebar + gam * (h + NOISE.part("mean"))
    x_moves, ebar_moves = -sent, pushed - sent - ebar
    claim = lemmas.descent(proof, slope=h - u, step=x_moves - ebar_moves)
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


KARIMIREDDY = Source(
    "Karimireddy, Rebjock, Stich, Jaggi",
    2019,
    "Error feedback fixes SignSGD and other gradient compression schemes",
    "arXiv:1901.09847; here for n workers and without bounded gradients",
)

KEPT = 4 * gam**2 * L**2 * (1 - delta) / delta**2
MEMORY = (1 - delta) * (4 * zeta2 / delta**2 + 2 * sigma2 / delta)
BOUND = (2 * Delta / (gam * T) + gam * L * sigma2 / n + gam**2 * L**2 * MEMORY) / (
    1 - gam * L - KEPT
)

THEOREMS = (
    Theorem(
        name="ef-sgd-nonconvex",
        source=KARIMIREDDY,
        measure=Measure.GRADSQ_X,
        statement="p_i = gam g_i(x) + e_i; e_i <- p_i - C(p_i); x <- x - mean_i C(p_i). "
        "Start at e_i = 0.",
        assumes=frozenset({Assumption.SMOOTH, Assumption.HETEROGENEITY, Assumption.CONTRACTION})
        | INDEPENDENT_NOISE,
        conditions=(gam * L + KEPT < 1,),
        bound=BOUND,
        derive=nonconvex,
        perturbation=gam**2 * (1 - delta) * (4 * (BOUND + zeta2) / delta**2 + 2 * sigma2 / delta),
        tuned=Tuned(
            step=sp.Min(
                delta / (4 * L),
                sp.sqrt(2 * Delta * n / (L * T * sigma2)),
                sp.cbrt(2 * Delta / (L**2 * MEMORY * T)),
            ),
            value=16 * Delta * L / (delta * T)
            + 4 * sp.sqrt(2 * L * Delta * sigma2 / (n * T))
            + 4 * sp.cbrt(L**2 * MEMORY) * sp.cbrt(2 * Delta / T) ** 2,
            rate_T=-HALF,
            rate_n=-HALF,
            compute=power_step(delta / (4 * L), enlarge((1 / (1 - gam * L - KEPT), sp.Integer(2)))),
        ),
        limits=(Limit("bsp-nonconvex", {delta: 1}, Kind.IMPLIED_BY),),
    ),
)
