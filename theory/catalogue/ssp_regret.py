"""SSP as its authors analysed it: views of a shared model, steps that fall, convex functions.

Worker p takes its gradient of clock c at a view that has in it its own updates, those of the others
of clocks < c - s, and perhaps later ones; f may change from step to step. With t = c Pw + p, update
t has step gam_t = Fd / sqrt(2 G2 (s + 1) Pw (t + 1)). Times T, the bound is one of the regret
sum_t f_t(y_t) - f_t(x*), for every x* within reach.

With N = (s + 1) Pw and M = (2 s + 1)(Pw - 1) < 2 N it is Fd sqrt(G2) (2 N + 1 + 2 M) / sqrt(2 N T).
Ho et al. have 4 Fd sqrt(G2) sqrt(2 N / T), which is larger for all T, s and Pw: 3 would do.
Letters of the derivation: z = x_t - x*, w = y_t - x_t, g the gradient at y_t, with its noise xi.
"""

from __future__ import annotations

import sympy as sp

from theory.derivation import Proof
from theory.forms import ONE, Claim, Form, Scalar, Vector, inner
from theory.lemmas import NOISE, F, sq
from theory.regret import add_up
from theory.statement import Assumption, Kind, Measure, Source
from theory.symbols import symbol
from theory.theorem import Limit, Theorem

n, T, t, s, Pw = (symbol(x) for x in ("n", "T", "t", "s", "Pw"))
Fd, G2, L, gam, R2, sigma2 = (symbol(x) for x in ("Fd", "G2", "L", "gam", "R2", "sigma2"))

N, M = (s + 1) * Pw, (2 * s + 1) * (Pw - 1)
FIRST = Fd / sp.sqrt(2 * G2 * N)
STEP = FIRST / sp.sqrt(t + 1)

X_NEXT, LENGTH, COUNT, PACE = (Scalar(x) for x in ("X'", "steps apart", "views apart", "step"))


def regret(proof: Proof) -> sp.Expr:
    """Distances in the fixed order add up; that views are other points costs the steps between."""
    z, w, g = (Vector.mean(x) for x in "zwg")
    xi = NOISE.part("mean")
    claim = proof.axiom("convex_gap", F, g - xi, z + w)
    (first, _) = inner(z + w, xi).terms
    claim = proof.substitute(claim, proof.axiom("martingale_orthogonal", z + w, xi), first)
    (cross,) = inner(z, g).terms
    claim = proof.substitute(claim, proof.define(X_NEXT, z - STEP * g), cross)
    claim = proof.substitute(claim, proof.axiom("second_moment", g), sq(g))
    (cross,) = inner(w, g).terms
    claim = proof.substitute(claim, proof.axiom("apart", g, w, LENGTH), cross)
    most = proof.isolate(proof.axiom("within_reach", z), sq(z))
    claim = add_up(proof, claim, sq(z), X_NEXT, most, (PACE, STEP))
    times = proof.isolate(proof.axiom("views_differ", COUNT), COUNT)
    claim = proof.substitute(claim, proof.axiom("swapped", LENGTH, PACE, times), LENGTH)
    claim = proof.substitute(claim, proof.axiom("falling_steps", PACE, FIRST), PACE)
    return proof.isolate(claim, F)


def published(proof: Proof) -> sp.Expr:
    """As `regret`, made larger: 2 N + 1 + 2 M <= 8 N."""
    claim = Claim(Form({ONE: regret(proof), F: sp.Integer(-1)}))
    return proof.isolate(proof.relax(claim, ONE, 8 * N / (2 * N + 1 + 2 * M)), F)


HO = Source(
    "Ho, Cipar, Cui, Lee, Kim, Gibbons, Gibson, Ganger, Xing",
    2013,
    "More effective distributed ML via a stale synchronous parallel parameter server",
    "there for gradients that are bounded surely; here on average, with noise",
)

VIEWS = (
    "y_t = x_0 - the updates that the worker of step t sees; update t is gam_t g_t(y_t), gam_t = "
    "Fd / sqrt(2 G2 (s + 1) Pw (t + 1)). The bound is about f(y_t), or f_t(y_t) if f changes."
)
ASSUMED = frozenset(
    {
        Assumption.CONVEX,
        Assumption.UNBIASED,
        Assumption.SECOND_MOMENT,
        Assumption.REACH,
        Assumption.VIEWS,
    }
)

THEOREMS = (
    Theorem(
        name="ssp-regret",
        source=HO,
        measure=Measure.GAP_X,
        statement=VIEWS,
        assumes=ASSUMED,
        conditions=(),
        bound=Fd * sp.sqrt(G2) * (2 * N + 1 + 2 * M) / sp.sqrt(2 * N * T),
        derive=regret,
        # Alone, with R2 = 2 Fd^2: a constant step that is as long on the way is better.
        limits=(
            Limit(
                "bsp-convex",
                {s: sp.Integer(0), Pw: sp.Integer(1), Fd: gam * sp.sqrt(2 * G2 * T)},
                Kind.IMPLIED_BY,
                (gam * L <= 1,),
                target={n: sp.Integer(1), R2: 4 * gam**2 * G2 * T, sigma2: G2},
            ),
        ),
    ),
    Theorem(
        name="ssp-regret-published",
        source=HO,
        measure=Measure.GAP_X,
        statement=VIEWS,
        assumes=ASSUMED,
        conditions=(),
        bound=4 * Fd * sp.sqrt(2 * G2 * N / T),
        derive=published,
        limits=(Limit("ssp-regret", {}, Kind.IMPLIED_BY),),
    ),
)
