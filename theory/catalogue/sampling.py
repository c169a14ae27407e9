"""Bulk-synchronous SGD on a finite sum: the noise of real data, which no single sigma2 bounds."""

from __future__ import annotations

import sympy as sp

from theory import lemmas
from theory.derivation import Proof
from theory.forms import Scalar, Vector, inner
from theory.lemmas import NOISE, F, sq
from theory.moves import unroll
from theory.statement import Assumption, Kind, Measure, Source
from theory.symbols import symbol
from theory.theorem import Limit, Theorem, Tuned
from theory.tuning import forgetting, log_step

n, T, gam, L, mu, Lmax = (symbol(x) for x in ("n", "T", "gam", "L", "mu", "Lmax"))
R2, ss, sigma2 = (symbol(x) for x in ("R2", "ss", "sigma2"))

# Smoothness as the mean of n sampled gradients sees it: 2 Lmax for one worker, L for many.
SEEN = L * (1 - 1 / n) + 2 * Lmax / n
K = forgetting(2 * ss)


def strongly_convex(proof: Proof) -> sp.Expr:
    """The noise at x is at most twice that at x* and what f(x) - f* pays for."""
    z, g, after, total = Vector.mean("z"), Vector.mean("g"), Scalar("X'"), Scalar("noise")
    claim = proof.define(after, z - gam * (g + NOISE.part("mean")))
    claim = lemmas.drop_noise(proof, claim)
    averaged = proof.axiom("independent", NOISE, total)
    claim = proof.substitute(claim, averaged, sq(NOISE.part("mean")))

    # grad f_j(x) = moved + still, still = grad f_j(x*)
    moved, still = Vector.mean("moved"), Vector.mean("still")
    claim = proof.substitute(claim, proof.axiom("drawn", moved + still, g, total), total)
    (cross,) = inner(moved, still).terms
    claim = proof.substitute(claim, proof.axiom("young", moved, still, sp.Integer(1)), cross)
    claim = proof.substitute(claim, proof.axiom("expected_smoothness", F, moved), sq(moved))
    claim = proof.substitute(claim, proof.axiom("noise_at_minimum", still), sq(still))

    # f* <= f(y), y = x - g / L, gives |g|^2 <= 2 L (f(x) - f*).
    lowest = Scalar("f(y) - f*")
    below = proof.absorb(proof.axiom("descent", F, lowest, g, -1 / L * g), lowest)
    claim = proof.substitute(claim, below, sq(g))
    (cross,) = inner(z, g).terms
    claim = proof.substitute(claim, proof.axiom("strong_convex_gap", F, g, z), cross)
    claim = proof.absorb(claim, F, at={gam: 1 / SEEN})
    return unroll(proof, claim, sq(z), after, R2, forever=True)


GOWER = Source(
    "Gower, Loizou, Qian, Sailanbayev, Shulgin, Richtarik",
    2019,
    "SGD: general analysis and improved rates",
    "arXiv:1901.09401; here for n workers that draw with replacement from all samples",
)

THEOREMS = (
    Theorem(
        name="bsp-sc-sampling",
        source=GOWER,
        measure=Measure.DIST,
        statement="x <- x - gam (1/n) sum_i grad f_{j_i}(x), each j_i drawn evenly from all m "
        "samples, with replacement.",
        assumes=frozenset(
            {
                Assumption.SMOOTH,
                Assumption.STRONGLY_CONVEX,
                Assumption.UNBIASED,
                Assumption.INDEPENDENT,
                Assumption.DRAWN,
                Assumption.SMOOTH_LOSSES,
                Assumption.NOISE_AT_MINIMUM,
            }
        ),
        conditions=(gam * SEEN <= 1,),
        bound=(1 - gam * mu) ** T * R2 + 2 * gam * ss / (n * mu),
        derive=strongly_convex,
        tuned=Tuned(
            step=sp.log(K) / (mu * T),
            value=2 * ss * (1 + sp.log(K)) / (n * mu**2 * T),
            rate_T=sp.Integer(-1),
            rate_n=sp.Integer(-1),
            compute=log_step(1 / SEEN, noise=2 * ss),
            assuming=(K >= 1, sp.log(K) * SEEN <= mu * T),
        ),
        limits=(Limit("bsp-sc-const", {}, Kind.IMPLIED_BY, target={sigma2: 2 * ss}),),
        equivalent={
            f"descent#1.f(y) {kind}": "of f(y) only f(y) >= f* is used, so its factor is free"
            for kind in ("doubled", "dropped")
        },
    ),
)
