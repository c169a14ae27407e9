"""Unbiased compression: x <- x - gam (1/n) sum_i C(g_i), what is lost is noise and is forgotten."""

from __future__ import annotations

import sympy as sp

from theory import lemmas
from theory.derivation import Proof
from theory.forms import Claim, Inner, Scalar, Vector
from theory.lemmas import LOSS, NOISE, F, sq
from theory.moves import telescope
from theory.statement import INDEPENDENT_NOISE, Assumption, Measure, Source
from theory.symbols import symbol
from theory.theorem import Limit, Theorem, Tuned
from theory.tuning import enlarge, power_step

n, T, gam, L, omega = (symbol(x) for x in ("n", "T", "gam", "L", "omega"))
Delta, sigma2, zeta2 = (symbol(x) for x in ("Delta", "sigma2", "zeta2"))

HALF = sp.Rational(1, 2)

h, w = Vector.mean("h"), Vector.deviation("w")
LOST = Scalar("lost")


def _descent(proof: Proof) -> Claim:
    """Descent along what was said; the loss is orthogonal to all that was known before."""
    claim = proof.axiom("descent", F, lemmas.F_NEXT, h, -gam * (h + NOISE.part("mean") + LOSS))
    (loss,) = LOSS.terms
    for atom in claim.form.terms:
        if isinstance(atom, Inner) and loss in (atom.left, atom.right) and not atom.nonnegative:
            (known,) = {atom.left, atom.right} - {loss}
            orthogonal = proof.axiom("loss_orthogonal", Vector.of(known), LOSS)
            claim = proof.substitute(claim, orthogonal, atom)
    return lemmas.mean_noise(proof, lemmas.drop_noise(proof, claim))


def _bound(proof: Proof, claim: Claim) -> sp.Expr:
    return proof.isolate(telescope(proof, claim, F, lemmas.F_NEXT, Delta), sq(h))


def independent(proof: Proof) -> sp.Expr:
    """Every worker loses at most omega |g_i|^2, and the mean one n-th of that."""
    claim = proof.substitute(_descent(proof), proof.axiom("own_losses", LOSS, LOST), sq(LOSS))
    most = proof.axiom("relative_loss", h + w + NOISE, LOST)
    most = lemmas.stack_noise(proof, lemmas.drop_noise(proof, most))
    most = proof.substitute(most, proof.axiom("heterogeneity", w), sq(w))
    return _bound(proof, proof.substitute(claim, most, LOST))


def shared(proof: Proof) -> sp.Expr:
    """The mean of the messages is the message that the mean gradient would be."""
    claim = proof.substitute(_descent(proof), proof.axiom("one_mask", LOSS, LOST), sq(LOSS))
    most = proof.axiom("relative_loss", h + NOISE.part("mean"), LOST)
    most = lemmas.mean_noise(proof, lemmas.drop_noise(proof, most))
    return _bound(proof, proof.substitute(claim, most, LOST))


ALISTARH = Source(
    "Alistarh, Grubic, Li, Tomioka, Vojnovic",
    2017,
    "QSGD: communication-efficient SGD via gradient quantization and encoding",
    "arXiv:1610.02132; here for smooth functions, with the constant that is attained",
)
WANGNI = Source(
    "Wangni, Wang, Liu, Zhang",
    2018,
    "Gradient sparsification for communication-efficient distributed optimization",
    "arXiv:1710.09854; here with one mask for all workers",
)

OWN = (1 + omega) * sigma2 + omega * zeta2
ONE = (1 + omega) * sigma2


def _tuned(curvature: sp.Expr, noise: sp.Expr) -> Tuned:
    """Return the step for (2 Delta/(gam T) + gam L noise/n)/(2 - gam curvature)."""
    limit = 1 / curvature
    return Tuned(
        step=sp.Min(limit, sp.sqrt(2 * Delta * n / (L * T * noise))),
        value=2 * curvature * Delta / T + 2 * sp.sqrt(2 * L * Delta * noise / (n * T)),
        rate_T=-HALF,
        rate_n=-HALF,
        compute=power_step(limit, enlarge((1 / (2 - gam * curvature), sp.Integer(1)))),
    )


THEOREMS = (
    Theorem(
        name="qsgd-nonconvex",
        source=ALISTARH,
        measure=Measure.GRADSQ_X,
        statement="x <- x - gam (1/n) sum_i C(g_i(x)); every worker draws its own C, which is "
        "right on average: rounding at random, or random entries, k of d, scaled by d/k.",
        assumes=frozenset(
            {
                Assumption.SMOOTH,
                Assumption.HETEROGENEITY,
                Assumption.FAITHFUL,
                Assumption.OWN_ERRORS,
            }
        )
        | INDEPENDENT_NOISE,
        conditions=(gam * L * (1 + omega / n) < 2,),
        bound=(2 * Delta / (gam * T) + gam * L * OWN / n) / (2 - gam * L * (1 + omega / n)),
        derive=independent,
        tuned=_tuned(L * (1 + omega / n), OWN),
        limits=(
            Limit("bsp-nonconvex", {omega: 0}),
            Limit("qsgd-nonconvex-shared", {n: 1, zeta2: 0}, target={n: 1}),
        ),
        attained=True,
    ),
    Theorem(
        name="qsgd-nonconvex-shared",
        source=WANGNI,
        measure=Measure.GRADSQ_X,
        statement="x <- x - gam (1/n) sum_i C(g_i(x)); all workers draw the same C: random "
        "entries, k of d, scaled by d/k. More workers do not average the compression away.",
        assumes=frozenset({Assumption.SMOOTH, Assumption.FAITHFUL, Assumption.ONE_MASK})
        | INDEPENDENT_NOISE,
        conditions=(gam * L * (1 + omega) < 2,),
        bound=(2 * Delta / (gam * T) + gam * L * ONE / n) / (2 - gam * L * (1 + omega)),
        derive=shared,
        tuned=_tuned(L * (1 + omega), ONE),
        limits=(
            Limit("bsp-nonconvex", {omega: 0}),
            Limit("qsgd-nonconvex-shared", {sigma2: n * sigma2}, target={n: 1}),
        ),
        attained=True,
    ),
)
