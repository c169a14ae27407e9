"""SGD along one momentum: the mean gradient is averaged over the past before it moves the model.

m <- mom m + mean_i g_i(x), x <- x - gam m. With eta = gam / (1 - mom) the sequence
v = x - eta mom m moves by -eta times the mean gradient, and x is eta mom m away from it. Letters of
the derivation: h = grad f(v), g = grad f(x), m = p + r, p what gradients and r what noise left.
"""

from __future__ import annotations

import sympy as sp

from theory import lemmas
from theory.derivation import Proof
from theory.forms import Claim, Scalar, Vector, inner, tidy
from theory.lemmas import NOISE, F, sq
from theory.moves import telescope, unroll
from theory.statement import INDEPENDENT_NOISE, Assumption, Kind, Measure, Source
from theory.symbols import symbol
from theory.theorem import Limit, Theorem, Tuned
from theory.tuning import below, power_step

n, T, gam, eta, mom, L = (symbol(x) for x in ("n", "T", "gam", "eta", "mom", "L"))
Delta, sigma2 = symbol("Delta"), symbol("sigma2")

HALF, ZERO = sp.Rational(1, 2), sp.Integer(0)
ETA = gam / (1 - mom)
USED = eta * L + 2 * eta**2 * L**2 * mom**2 / (1 - mom) ** 2  # of |g|^2; the rest is bounded

g, p, r = Vector.mean("g"), Vector.mean("p"), Vector.mean("r")
XI = NOISE.part("mean")


def _moved(gradient: Vector) -> Vector:
    """Return by how much v = x - eta mom m moves: -eta times the gradient."""
    m = Vector.mean("m")
    after = mom * m + gradient
    moved = -(1 - mom) * eta * after - eta * mom * (after - m)
    terms = {base: tidy(c) for base, c in moved.terms.items()}
    return Vector({base: c for base, c in terms.items() if c != 0})


def _gradients(proof: Proof) -> Claim:
    """On average |p|^2 <= |g|^2 / (1 - mom)^2, p' = mom p + g."""
    after = Scalar("|p'|^2")
    claim = proof.define(after, mom * p + g)
    (cross,) = inner(p, g).terms
    claim = proof.substitute(claim, proof.axiom("young", mom * p, g, (1 - mom) / mom), cross)
    return telescope(proof, claim, sq(p), after, ZERO)


def _noise(proof: Proof) -> sp.Expr:
    """|r|^2 <= sigma2 / (n (1 - mom^2)), r' = mom r + xi."""
    after = Scalar("|r'|^2")
    claim = lemmas.drop_noise(proof, proof.define(after, mom * r + XI))
    claim = lemmas.mean_noise(proof, claim)
    return unroll(proof, claim, sq(r), after, ZERO, forever=True)


def nonconvex(proof: Proof) -> sp.Expr:
    """Descent at v by a gradient at x; what lies between is paid by -(1 - eta L)|g|^2."""
    if not proof.domain.nonnegative(1 - USED.subs(eta, ETA), strict=True):
        proof.refuse(f"{USED} < 1 is not proved")
    proof.domain = proof.domain.also(USED < 1)
    h = Vector.mean("h")
    claim = lemmas.descent(proof, slope=h, step=_moved(g + XI))
    (cross,) = inner(h, g).terms
    claim = proof.substitute(claim, proof.axiom("smooth", h - g, eta * mom * (p + r)), cross)
    claim = proof.absorb(claim, sq(h))
    (cross,) = inner(p, r).terms
    claim = proof.substitute(claim, proof.axiom("young", p, r, sp.Integer(1)), cross)
    claim = telescope(proof, claim, F, lemmas.F_NEXT, Delta)
    kept = proof.bounded(sq(r), _noise(proof), "for all t")
    claim = proof.substitute(claim, kept, sq(r))
    claim = proof.substitute(claim, _gradients(proof), sq(p))
    bound = proof.isolate(claim, sq(g))
    proof.letters[eta] = ETA
    return proof.written(bound)


NOISY = 2 * eta**2 * L**2 * mom**2 * sigma2 / (n * (1 - mom**2))
SHORT = (1 - mom) ** 2 / (2 * L)
TWICE = 4 * Delta / (ETA * T) + 3 * ETA * L * sigma2 / n  # for gam <= SHORT

YAN = Source(
    "Yan, Yang, Li, Lin, Yang",
    2018,
    "A unified analysis of stochastic momentum methods for deep learning",
    "arXiv:1808.10396; the virtual sequence is theirs, here with n workers and other constants",
)

THEOREMS = (
    Theorem(
        name="momentum-nonconvex",
        source=YAN,
        measure=Measure.GRADSQ_X,
        statement="m <- mom m + (1/n) sum_i g_i(x); x <- x - gam m; m = 0 at the start. "
        "v = x - eta mom m. Workers may differ.",
        assumes=frozenset({Assumption.SMOOTH}) | INDEPENDENT_NOISE,
        conditions=(USED.subs(eta, ETA) < 1,),
        bound=(2 * Delta / (eta * T) + eta * L * sigma2 / n + NOISY) / (1 - USED),
        where={eta: ETA},
        derive=nonconvex,
        tuned=Tuned(
            step=sp.Min(SHORT, (1 - mom) * sp.sqrt(4 * Delta * n / (3 * L * T * sigma2))),
            value=8 * L * Delta / ((1 - mom) * T) + 4 * sp.sqrt(3 * L * Delta * sigma2 / (n * T)),
            rate_T=-HALF,
            rate_n=-HALF,
            compute=power_step(SHORT, below(TWICE)),
        ),
        limits=(Limit("bsp-nonconvex", {mom: ZERO}, Kind.IMPLIED_BY),),
    ),
)
