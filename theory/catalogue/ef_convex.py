"""Error feedback on convex functions: the distance of v = x - mean e to the minimizer."""

from __future__ import annotations

import sympy as sp

from theory import lemmas
from theory.derivation import Proof
from theory.forms import Claim, Scalar, Vector, inner
from theory.lemmas import NOISE, F, sq
from theory.moves import telescope, unroll
from theory.potential import potential, step
from theory.statement import INDEPENDENT_NOISE, Assumption, Kind, Measure, Source
from theory.symbols import symbol
from theory.theorem import Limit, Theorem, Tuned
from theory.tuning import K, log_step, power_step

n, T, gam, L, mu, delta = (symbol(x) for x in ("n", "T", "gam", "L", "mu", "delta"))
R2, sigma2, zeta2 = (symbol(x) for x in ("R2", "sigma2", "zeta2"))

HALF = sp.Rational(1, 2)

MEMORY, MEMORY_NEXT, X_NEXT = Scalar("E"), Scalar("E'"), Scalar("X'")
z, h, e = Vector.mean("z"), Vector.mean("h"), Vector.stack("e")
ebar = e.part("mean")


def _moved(proof: Proof) -> Claim:
    """The mean gradient at x moves v, which is x without the mean memory.

    z = v - x*, so x - x* = z + ebar; convexity at x.
    """
    claim = proof.define(X_NEXT, z - gam * (h + NOISE.part("mean")))
    claim = lemmas.mean_noise(proof, lemmas.drop_noise(proof, claim))
    (cross,) = inner(z, h).terms
    return proof.substitute(claim, proof.axiom("convex_smooth_gap", F, h, z + ebar), cross)


def _memory(proof: Proof, claim: Claim) -> Claim:
    """|mean e|^2 is at most E = (1/n) sum_i |e_i|^2."""
    total = proof.define(MEMORY, ebar, e.part("deviation"))
    return proof.absorb(proof.substitute(claim, total, sq(ebar)), sq(e.part("deviation")))


def convex(proof: Proof) -> sp.Expr:
    """Telescope the distance; what the memory adds is absorbed by |grad f(x)|^2."""
    kept = lemmas.error_memory(proof, h, e, MEMORY)
    claim = _moved(proof)
    (cross,) = inner(h, ebar).terms
    claim = proof.substitute(claim, proof.axiom("square", h - 2 * L * ebar), cross)
    claim = telescope(proof, _memory(proof, claim), sq(z), X_NEXT, R2)
    claim = proof.substitute(claim, kept, MEMORY)
    # The condition holds with equality at this step size.
    longest = (sp.sqrt(1 + 16 * (1 - delta) / delta**2) - 1) * delta**2 / (16 * L * (1 - delta))
    return proof.isolate(proof.absorb(claim, sq(h), at={gam: longest}), F)


def strongly_convex(proof: Proof) -> sp.Expr:
    """|z|^2 + (4 gam L/delta) E shrinks by 1 - gam mu.

    f(x) - f* is at least what it is at v, up to the way from x to v, and grows from x* on.
    """
    at_v = Scalar("F(v)")
    claim = proof.substitute(_moved(proof), proof.axiom("descent", F, at_v, h, -ebar), F)
    claim = proof.substitute(claim, proof.axiom("quadratic_growth", at_v, z), at_v)
    claim = _memory(proof, claim)
    kept = lemmas.memory_step(proof, h, e, MEMORY, MEMORY_NEXT)

    c = 4 * gam * L / delta
    V, V_NEXT = Scalar("V"), Scalar("V'")
    before = potential(proof, V, {sq(z): sp.Integer(1), MEMORY: c})
    after = potential(proof, V_NEXT, {X_NEXT: sp.Integer(1), MEMORY_NEXT: c})
    claim = step(proof, before, after, sq(z), (claim, X_NEXT), (kept, MEMORY_NEXT))
    claim = proof.absorb(claim, MEMORY, at={mu: delta / (4 * gam)})
    longest = (sp.sqrt(1 + 32 * (1 - delta) / delta**2) - 1) * delta**2 / (16 * L * (1 - delta))
    claim = proof.absorb(claim, sq(h), at={gam: longest})
    reached = unroll(proof, claim, V, V_NEXT, R2, forever=True)
    last = proof.absorb(Claim(-1 * after.form), MEMORY_NEXT)
    return proof.isolate(
        proof.substitute(last, proof.bounded(V_NEXT, reached, "after T steps"), V_NEXT), X_NEXT
    )


STICH = Source(
    "Stich, Karimireddy",
    2020,
    "The error-feedback framework: better rates for SGD with delayed gradients and compressed "
    "communication",
    "arXiv:1909.05350; here for n workers that may differ, with smaller constants",
)

ADDED = (1 - delta) * (4 * zeta2 / delta**2 + 2 * sigma2 / delta)
KEPT = gam**2 * L**2 * (1 - delta) / delta**2
STATEMENT = (
    "p_i = gam g_i(x) + e_i; e_i <- p_i - C(p_i); x <- x - mean_i C(p_i). Start at e_i = 0. "
)
ASSUMES = (
    frozenset(
        {
            Assumption.SMOOTH,
            Assumption.CONVEX,
            Assumption.HETEROGENEITY,
            Assumption.CONTRACTION,
        }
    )
    | INDEPENDENT_NOISE
)

THEOREMS = (
    Theorem(
        name="ef-sgd-convex",
        source=STICH,
        measure=Measure.GAP_X,
        statement=STATEMENT + "4 gam L <= delta is short enough.",
        assumes=ASSUMES,
        conditions=(2 * gam * L + 16 * KEPT <= 1,),
        bound=R2 / (2 * gam * T) + gam * sigma2 / (2 * n) + gam**2 * L * ADDED,
        derive=convex,
        tuned=Tuned(
            step=sp.Min(
                delta / (4 * L),
                sp.sqrt(R2 * n / (T * sigma2)),
                sp.cbrt(R2 / (2 * L * ADDED * T)),
            ),
            value=2 * L * R2 / (delta * T)
            + sp.sqrt(R2 * sigma2 / (n * T))
            + 2 * sp.cbrt(L * ADDED) * sp.cbrt(R2 / (2 * T)) ** 2,
            rate_T=-HALF,
            rate_n=-HALF,
            compute=power_step(delta / (4 * L)),
        ),
        limits=(Limit("bsp-convex", {delta: 1}),),
    ),
    Theorem(
        name="ef-sgd-sc",
        source=STICH,
        measure=Measure.DIST,
        statement=STATEMENT + "v = x - mean_i e_i. 4 gam L <= delta is short enough.",
        assumes=ASSUMES | {Assumption.STRONGLY_CONVEX},
        conditions=(gam * L + 8 * KEPT <= 1, 4 * gam * mu <= delta),
        bound=(1 - gam * mu) ** T * R2
        + gam * sigma2 / (n * mu)
        + 4 * gam**2 * (L / mu) * (1 - delta) * (sigma2 / delta + 2 * zeta2 / delta**2),
        derive=strongly_convex,
        tuned=Tuned(
            step=sp.log(K) / (mu * T),
            value=sigma2 * (1 + sp.log(K)) / (n * mu**2 * T)
            + 4
            * L
            * (1 - delta)
            * (sigma2 / delta + 2 * zeta2 / delta**2)
            * sp.log(K) ** 2
            / (mu**3 * T**2),
            rate_T=sp.Integer(-1),
            rate_n=sp.Integer(-1),
            compute=log_step(delta / (4 * L)),
            assuming=(K >= 1, 4 * sp.log(K) * L <= delta * mu * T),
        ),
        limits=(Limit("bsp-sc-const", {delta: 1}, Kind.IMPLIED_BY),),
    ),
)
