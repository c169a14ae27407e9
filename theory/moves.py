"""Moves over time: from a one-step inequality to a bound after T steps.

Each move states the closed form that it uses; `theory.identities` proves each closed form once, by
induction. Coefficients of the one-step inequality are places to mutate.
"""

from __future__ import annotations

from typing import NamedTuple

import sympy as sp

from theory.algebra import is_zero
from theory.derivation import Proof
from theory.forms import ONE, Atom, Claim, Form, Inner, Norm, tidy
from theory.symbols import symbol

__all__ = [
    "Growth",
    "average",
    "geometric",
    "pq_unroll",
    "telescope",
    "unroll",
    "unroll_weighted",
]

T, H, t, k = (symbol(x) for x in "THtk")


def geometric(r: sp.Expr, steps: sp.Expr) -> sp.Expr:
    """Return 1 + r + ... + r**(steps - 1)."""
    return (1 - r**steps) / (1 - r)


def _recursion(
    proof: Proof, label: str, claim: Claim, before: Atom, after: Atom
) -> tuple[sp.Expr, sp.Expr]:
    """Read ``after <= r before + c`` off a claim that mentions nothing else."""
    claim = proof.one_step(label, claim)
    if set(claim.form.terms) - {ONE, before} != {after} or claim.form[after] != -1:
        proof.refuse(f"not of the form {after} <= r {before} + c: {claim}")
    return claim.form[before], claim.form[ONE]


def _start(proof: Proof, label: str, start: sp.Expr) -> sp.Expr:
    """Register the value at t = 0 as a place to mutate, unless it is zero."""
    if start == 0:
        return start
    (first,) = proof.mutated(label, {"start": Form.of(ONE, start)}, ("doubled", "dropped"))
    return first[ONE]


def telescope(proof: Proof, claim: Claim, before: Atom, after: Atom, start: sp.Expr) -> Claim:
    """Average ``after <= before + ...`` over t < T; other atoms become their averages.

    ``before`` at t = 0 is at most `start`; ``after`` at t = T - 1 is dropped, being non-negative.
    If `before` has a coefficient other than 1, the rest of it is kept as an average.
    """
    label = proof.visit("telescope")
    claim = proof.one_step(label, claim)
    first = _start(proof, label, start)
    if claim.form[after] != -1 or not after.nonnegative:
        proof.refuse(f"not of the form {after} <= {before} + ...: {claim}")
    rest = claim.form.without(after) - Form.of(before)
    return proof.record(Claim(rest + Form.of(ONE, first / T)), label)


def unroll(
    proof: Proof,
    claim: Claim,
    before: Atom,
    after: Atom,
    start: sp.Expr,
    *,
    steps: sp.Expr = T,
    forever: bool = False,
) -> sp.Expr:
    """Return the bound after `steps` steps of ``after <= r before + c``, from `start`.

    As c >= 0, from start 0 it is a bound after fewer steps, too. With `forever` the sum
    1 + r + ... is bounded by 1 / (1 - r).
    """
    label = proof.visit("unroll")
    r, c = _recursion(proof, label, claim, before, after)
    first = _start(proof, label, start)
    if not proof.domain.nonnegative(r):
        proof.refuse(f"the factor {r} may be negative")
    if not proof.domain.nonnegative(c):
        proof.refuse(f"{c} may be negative")
    if is_zero(r - 1):
        bound = first + steps * c
    elif any(proof.domain.nonnegative(1 - x, strict=True) for x in (r, r**2)):  # r >= 0
        bound = r**steps * first + c * (1 / (1 - r) if forever else geometric(r, steps))
    else:
        proof.refuse(f"the factor {r} is not proved to be below 1")
    proof.bounded(after, bound, label)
    return proof.written(bound)


def unroll_weighted(
    proof: Proof, claim: Claim, before: Atom, after: Atom, start: sp.Expr, weight: sp.Expr
) -> sp.Expr:
    """Unroll ``after <= r_t before + c_t`` where weight_{t+1} r_t = weight_t: it telescopes.

    `weight` is an expression in t; the sum of weight_{t+1} c_t is checked by induction on T.
    """
    label = proof.visit("unroll")
    r, c = _recursion(proof, label, claim, before, after)
    first = _start(proof, label, start)
    following = weight.subs(t, t + 1)
    if not proof.domain.nonnegative(weight) or not is_zero(following * r - weight):
        proof.refuse(f"{weight} does not telescope the factor {r}")
    term = tidy(following * c)
    total = sp.summation(term, (t, 0, T - 1))
    grows = is_zero(total.subs(T, T + 1) - total - term.subs(t, T))
    if not grows or not is_zero(total.subs(T, 0)):
        proof.refuse(f"no closed form for the sum of {term}")
    bound = (weight.subs(t, 0) * first + total) / weight.subs(t, T)
    proof.bounded(after, bound, label)
    return proof.written(bound)


class Growth(NamedTuple):
    """The pq-lemma: sqrt(D_k) <= drift + noise."""

    drift: sp.Expr
    noise: sp.Expr

    @property
    def squared(self) -> sp.Expr:
        """The bound on D_k."""
        return (self.drift + self.noise) ** 2


def pq_unroll(
    proof: Proof, roots: Claim, squares: Claim, before: Inner, after: Atom, *, forever: bool = False
) -> Growth:
    """Unroll D' <= c^2 |y|^2 + b^2, |y| <= r sqrt(D) + a, from D = 0.

    Drift adds up linearly and noise in squares: with q = c r, after k steps
    sqrt(D) <= c a (q^k - 1)/(q - 1) + b sqrt((q^2k - 1)/(q^2 - 1)); `forever` takes k to infinity,
    for q < 1.
    """
    label = proof.visit("pq-unroll")
    roots = proof.one_step(f"{label} roots", roots)
    here = Norm(before.left)
    others = {x: c for x, c in roots.form.terms.items() if x not in (here, ONE)}
    (whole,) = others if list(others.values()) == [-1] else (None,)
    if not isinstance(whole, Norm):
        proof.refuse(f"not of the form |y| <= r |z| + a: {roots}")
    moved = Inner(whole.base, whole.base)
    c2, b2 = _recursion(proof, f"{label} squares", squares, moved, after)
    c = sp.sqrt(c2)
    q, a = c * roots.form[here], c * roots.form[ONE]
    for value in (c2, q, a, b2):
        if not proof.domain.nonnegative(value):
            proof.refuse(f"{value} may be negative")
    if forever:
        if not any(proof.domain.nonnegative(1 - x, strict=True) for x in (q, q**2)):  # q >= 0
            proof.refuse(f"the factor {q} is not proved to be below 1")
        growth = Growth(a / (1 - q), sp.sqrt(b2 / (1 - q**2)))
    else:
        growth = Growth(a * geometric(q, k), sp.sqrt(b2 * geometric(q**2, k)))
    proof.bounded(after, growth.squared, label)
    return growth


def average(
    proof: Proof, atom: Atom, bound: sp.Expr, closed: sp.Expr | None = None
) -> tuple[Claim, sp.Expr]:
    """Average a bound that depends on the step k of a round over k < H; H divides T.

    `closed`, if given, is proposed for the average and proved by induction on H.
    """
    mean = sp.Sum(bound, (k, 0, H - 1)) / H
    if closed is not None:
        total = H * closed
        step = total.subs(H, H + 1) - total - bound.subs(k, H)
        if not is_zero(step) or not is_zero(sp.together(total).subs(H, 0)):
            proof.refuse(f"{closed} is not the average of {bound}")
        mean = closed
    return proof.bounded(atom, mean, "average over a round"), mean
