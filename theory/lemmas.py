"""Lemmas that several theorems share, composed from axioms by the engine.

A lemma is a function of a running proof, so that a change to one of its axioms is seen by every
theorem that uses it. Letters: x the models, z = x - x* or the deviations of the models, g the
gradients, h = grad f(v), xi the noise; u' is u after the step.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from theory.derivation import Proof
from theory.forms import Claim, Inner, Norm, Scalar, Vector, inner
from theory.moves import Growth, pq_unroll, telescope
from theory.symbols import symbol

__all__ = [
    "F",
    "F_NEXT",
    "LOSS",
    "NOISE",
    "consensus",
    "descent",
    "deviation_noise",
    "drop_noise",
    "gradient_step",
    "mean_noise",
    "nonexpansive",
    "sq",
]

gam, L, delta = symbol("gam"), symbol("L"), symbol("delta")

F, F_NEXT = Scalar("F"), Scalar("F'")
NOISE = Vector.stack("xi")
LOSS = Vector.mean("q")  # what messages lose; drawn after the noise, so it is not known before
_TOTAL = Scalar("noise")


def sq(vector: Vector) -> Inner:
    """Return the atom |u|^2 of a base vector u."""
    (base,) = vector.terms
    return Inner(base, base)


def drop_noise(proof: Proof, claim: Claim) -> Claim:
    """Remove every product of the noise with what was known before it was drawn."""
    for atom in claim.form.terms:
        if not isinstance(atom, Inner):
            continue
        known, noise = sorted((atom.left, atom.right), key=lambda base: base in NOISE.terms)
        if known in (*NOISE.terms, *LOSS.terms) or noise not in NOISE.terms:
            continue
        orthogonal = proof.axiom("martingale_orthogonal", Vector.of(known), Vector.of(noise))
        claim = proof.substitute(claim, orthogonal, atom)
    return claim


def mean_noise(proof: Proof, claim: Claim) -> Claim:
    """E|mean_i xi_i|^2 <= sigma2 / n."""
    atom = sq(NOISE.part("mean"))
    claim = proof.substitute(claim, proof.axiom("independent", NOISE, _TOTAL), atom)
    return proof.substitute(claim, proof.axiom("bounded_variance", _TOTAL), _TOTAL)


def stack_noise(proof: Proof, claim: Claim) -> Claim:
    """(1/n) sum_i E|xi_i|^2 <= sigma2."""
    split = proof.axiom("pythagoras", NOISE, _TOTAL)
    claim = proof.substitute(claim, split, sq(NOISE.part("mean")))
    return proof.substitute(claim, proof.axiom("bounded_variance", _TOTAL), _TOTAL)


def deviation_noise(proof: Proof, claim: Claim) -> Claim:
    """(1/n) sum_i E|xi_i - mean xi|^2 <= sigma2 (1 - 1/n)."""
    split = proof.axiom("pythagoras", NOISE, _TOTAL)
    claim = proof.substitute(claim, split, sq(NOISE.part("deviation")))
    return mean_noise(proof, claim)


def descent(proof: Proof, slope: Vector, step: Vector) -> Claim:
    """F' <= F + <slope, step> + (L/2)|step|^2 without its noise, + gam^2 (L/2) sigma2/n.

    `slope` is the gradient where F is taken; `step` is -gam times a mean gradient with its noise.
    """
    claim = proof.axiom("descent", F, F_NEXT, slope, step)
    return mean_noise(proof, drop_noise(proof, claim))


def gradient_step(proof: Proof, claim: Claim, z: Vector, g: Vector) -> Claim:
    """|z - gam g|^2 <= rho^2 |z|^2, rho = max(|1 - gam mu|, |1 - gam L|).

    `claim` contains the left side expanded; gam may vary. Co-coercivity removes <g, z>; what is
    left of |g|^2 is bounded from below if its coefficient is negative (short steps), else from
    above.
    """
    cocoercive = proof.axiom("strongly_cocoercive", g, z)
    claim = proof.substitute(claim, cocoercive, Inner(*sorted((*g.terms, *z.terms))))
    short = proof.domain.nonnegative(-claim.form[sq(g)])
    return proof.substitute(claim, proof.axiom("expanding" if short else "smooth", g, z), sq(g))


def nonexpansive(proof: Proof, claim: Claim, z: Vector, g: Vector) -> Claim:
    """|z - gam g|^2 <= |z|^2 over deviations, for gam <= 2/L and equal convex functions."""
    cocoercive = proof.axiom("cocoercive_pairs", g, z)
    claim = proof.substitute(claim, cocoercive, Inner(*sorted((*g.terms, *z.terms))))
    return proof.absorb(claim, sq(g), at={gam: 2 / L})


def drift(proof: Proof, y: Vector, z: Vector, *, iid: bool, mixed: Vector | None = None) -> Claim:
    """|y| <= (1 + gam L)|z| + gam sqrt(zeta2), y = z - gam (u + w) over deviations.

    u_i = grad f_i(x_i) - grad f_i(xbar), w_i = grad f_i(xbar) - grad f(xbar); w = 0 for equal f_i
    (`iid`). With `mixed` = W z it is y = W z - gam (u + w), and lam stands for the 1.
    """
    u, w = Vector.stack("u"), Vector.deviation("w")
    rough = proof.absorb(proof.axiom("smooth", u, z), sq(u.part("mean")))
    claim = proof.axiom("minkowski", y, (mixed or z) - gam * (u.part("deviation") + w))
    if mixed is not None:
        closer = proof.root(proof.axiom("mixing", z, mixed))
        claim = proof.substitute(claim, closer, Norm(*mixed.terms))
    claim = proof.substitute(claim, proof.root(rough), Norm(*u.part("deviation").terms))
    spread = proof.axiom("equal", w) if iid else proof.root(proof.axiom("heterogeneity", w))
    return proof.substitute(claim, spread, Norm(*w.terms))


def consensus(
    proof: Proof, *, gossip: bool = False, iid: bool = False, first: bool = False
) -> tuple[Inner, Growth]:
    """Bound D = (1/n) sum_i E|x_i - xbar|^2 under local steps, with or without gossip.

    Without gossip the bound is for step k of a round that starts at D = 0, with gossip after each
    step, or before it (`first`), for ever.
    """
    y, z, after = Vector.deviation("y"), Vector.deviation("z"), Scalar("D'")
    mixed = Vector.deviation("W z" if first else "x'")
    roots = drift(proof, y, z, iid=iid, mixed=mixed if first else None)
    noisy = y - gam * NOISE.part("deviation")
    if gossip and not first:
        claim = proof.axiom("mixing", noisy, mixed)
        claim = proof.substitute(claim, proof.define(after, mixed), sq(mixed))
    else:
        claim = proof.define(after, noisy)
    claim = deviation_noise(proof, drop_noise(proof, claim))
    return sq(z), pq_unroll(proof, roots, claim, sq(z), after, forever=gossip)


def perturbed(
    proof: Proof, bound: Claim, spread: Inner, step: Callable[[Vector], Vector] | None = None
) -> sp.Expr:
    """Bound the average of |grad f(xbar)|^2 when workers take gradients at x_i != xbar.

    The mean gradient is h + ubar, |ubar|^2 <= L^2 D, and `bound` bounds the average of D. `step`
    says how xbar (or another v in its place) moves by a mean gradient, if not by -gam times it.
    """
    h, u = Vector.mean("h"), Vector.stack("u")
    ubar, z = u.part("mean"), Vector.of(spread.left)
    said = h + ubar + NOISE.part("mean")
    claim = descent(proof, slope=h, step=step(said) if step else -gam * said)
    (cross,) = inner(h, ubar).terms
    claim = proof.substitute(claim, proof.axiom("square", h + ubar), cross)
    rough = proof.absorb(proof.axiom("smooth", u, z), sq(u.part("deviation")))
    claim = proof.substitute(claim, rough, sq(ubar))
    claim = telescope(proof, claim, F, F_NEXT, symbol("Delta"))
    return proof.isolate(proof.substitute(claim, bound, spread), sq(h))


def memory_step(proof: Proof, h: Vector, e: Vector, memory: Scalar, after: Scalar) -> Claim:
    """E' <= (1-delta/2) E + 2 gam^2 (1-delta)/delta (|h|^2 + zeta2) + gam^2 (1-delta) sigma2.

    E = (1/n) sum_i E|e_i|^2, e' = p - C(p), p = e + gam (g + xi), g_i = grad f_i(x), h their mean.
    """
    w, error = Vector.deviation("w"), Vector.stack("e'")
    g, s = h + w, delta / (2 * (1 - delta))
    claim = proof.axiom("contraction", e + gam * (g + NOISE), error)
    sent = proof.define(after, error.part("mean"), error.part("deviation"))
    claim = proof.substitute(claim, sent, sq(error.part("mean")))
    claim = stack_noise(proof, drop_noise(proof, claim))
    (cross,) = inner(e, h).terms
    claim = proof.substitute(claim, proof.axiom("young", e, gam * g, s), cross)
    for atom in (sq(h), sq(w)):
        claim = proof.relax(claim, atom, 2 / (2 - delta))
    claim = proof.substitute(claim, proof.axiom("heterogeneity", w), sq(w))
    named = proof.define(memory, e.part("mean"), e.part("deviation"))
    return proof.substitute(claim, named, sq(e.part("mean")))


def error_memory(proof: Proof, h: Vector, e: Vector, memory: Scalar) -> Claim:
    """(delta/2) avg E <= 2 gam^2 (1-delta)/delta (avg |h|^2 + zeta2) + gam^2 (1-delta) sigma2."""
    after = Scalar("E'")
    claim = memory_step(proof, h, e, memory, after)
    return telescope(proof, claim, memory, after, sp.Integer(0))
