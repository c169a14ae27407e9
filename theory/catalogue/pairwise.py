"""AD-PSGD without staleness: one worker steps at a time, and two neighbours average.

The mean model moves by gam/n along one worker's gradient, which is the mean gradient on average.
Letters of the derivation: g the gradients of all workers, with their noise, u_i = n g_i for the
worker whose turn it is and 0 for the others, h = grad f(v), d_i = grad f_i(x_i) - grad f_i(v),
y = z - (gam/n) g where workers would be if all had stepped a little.
"""

from __future__ import annotations

import sympy as sp

from theory.derivation import Proof
from theory.forms import Base, Claim, Norm, Scalar, Vector, inner
from theory.lemmas import F_NEXT, NOISE, F, drop_noise, sq
from theory.moves import Growth, pq_unroll, telescope
from theory.statement import Assumption, Kind, Measure, Source
from theory.symbols import symbol
from theory.theorem import Limit, Theorem, Tuned
from theory.tuning import power_step

n, T, gam, L, nu = (symbol(x) for x in ("n", "T", "gam", "L", "nu"))
Delta, G2, sigma2 = symbol("Delta"), symbol("G2"), symbol("sigma2")

STEP = gam / n
ALL = Vector.of(Base("g", "whole"))
z = Vector.deviation("z")


def _consensus(proof: Proof) -> Growth:
    """Bound D = (1/n) sum_i E|x_i - xbar|^2: mean gradients add up, turns add up in squares."""
    y, g, u, after = (Vector.deviation(one) for one in ("y", "g", "u", "x'"))
    steep = proof.axiom("second_moment", ALL)
    roots = proof.axiom("minkowski", y, z - STEP * g)
    (norm,), (whole,) = (one.terms for one in (g, ALL))
    roots = proof.substitute(roots, proof.root(proof.axiom("shorter", ALL, g)), Norm(norm))
    roots = proof.substitute(roots, proof.root(steep), Norm(whole))

    spread = Scalar("D'")
    claim = proof.axiom("meeting", z - STEP * u, after)
    claim = proof.substitute(claim, proof.define(spread, after), sq(after))
    (cross,) = inner(z, u).terms
    claim = proof.substitute(claim, proof.axiom("by_lot", z, u, g), cross)
    there = z - STEP * g
    named = Claim(inner(y, y) - inner(there, there), equality=True)
    (cross,) = inner(z, g).terms
    claim = proof.substitute(claim, proof.record(named, "definition of y"), cross)
    claim = proof.substitute(claim, proof.axiom("others_stay", u, ALL), sq(u))
    claim = proof.absorb(claim, sq(g))
    claim = proof.substitute(claim, steep, sq(ALL))
    return pq_unroll(proof, roots, claim, sq(z), spread, forever=True)


def sync(proof: Proof) -> sp.Expr:
    """Descent at the mean model along one gradient, that of a worker who is elsewhere."""
    growth = _consensus(proof)
    proof.perturbation = growth.squared
    bound = proof.bounded(sq(z), growth.squared, "for all t")
    h, d, u = Vector.mean("h"), Vector.stack("d"), Vector.mean("u")
    dbar = d.part("mean")
    claim = proof.axiom("descent", F, F_NEXT, h, -STEP * u)
    (cross,) = inner(h, u).terms
    claim = proof.substitute(
        claim, proof.axiom("by_lot", h, u, h + dbar + NOISE.part("mean")), cross
    )
    claim = drop_noise(proof, claim)
    claim = proof.substitute(claim, proof.axiom("one_moves", u, ALL), sq(u))
    claim = proof.substitute(claim, proof.axiom("second_moment", ALL), sq(ALL))
    (cross,) = inner(h, dbar).terms
    claim = proof.substitute(claim, proof.axiom("square", h + dbar), cross)
    rough = proof.absorb(proof.axiom("smooth", d, z), sq(d.part("deviation")))
    claim = proof.substitute(claim, rough, sq(dbar))
    claim = telescope(proof, claim, F, F_NEXT, Delta)
    return proof.isolate(proof.substitute(claim, bound, sq(z)), sq(h))


RADIUS = sp.sqrt(nu) * (1 / (1 - sp.sqrt(nu)) + sp.sqrt((n - 1) / (1 - nu)))  # in steps gam/n
SPREAD = L**2 * G2 * RADIUS**2 / n**2

LIAN = Source(
    "Lian, Zhang, Zhang, Liu",
    2018,
    "Asynchronous decentralized parallel stochastic gradient descent",
    "arXiv:1710.06952; here for gradients of bounded second moment that are not late",
)

THEOREMS = (
    Theorem(
        name="adpsgd-sync",
        source=LIAN,
        measure=Measure.GRADSQ,
        statement="x_i <- x_i - gam g_i(x_i) for a worker i drawn evenly, then x <- W x for a W "
        "drawn at random: two neighbours average. T counts gradients of single workers. Equal "
        "start. Workers may differ.",
        assumes=frozenset(
            {
                Assumption.SMOOTH,
                Assumption.UNBIASED,
                Assumption.SECOND_MOMENT,
                Assumption.BY_LOT,
                Assumption.MEETINGS,
            }
        ),
        conditions=(),
        bound=2 * n * Delta / (gam * T) + gam * L * G2 / n + gam**2 * SPREAD,
        derive=sync,
        perturbation=(gam / n) ** 2 * G2 * RADIUS**2,
        tuned=Tuned(
            step=sp.Min(
                n / L,
                n * sp.sqrt(2 * Delta / (L * G2 * T)),
                sp.cbrt(2 * n * Delta / (SPREAD * T)),
            ),
            value=2 * L * Delta / T
            + 2 * sp.sqrt(2 * L * Delta * G2 / T)
            + 2 * sp.cbrt(SPREAD) * sp.cbrt(2 * n * Delta / T) ** 2,
            rate_T=-sp.Rational(1, 2),
            rate_n=sp.Integer(0),
            compute=power_step(n / L),
        ),
        limits=(
            Limit(
                "bsp-nonconvex",
                {nu: sp.Integer(0), gam: n * gam},
                Kind.IMPLIED_BY,
                (gam * L <= 1, G2 >= sigma2),
                target={n: sp.Integer(1)},
            ),
        ),
    ),
)
