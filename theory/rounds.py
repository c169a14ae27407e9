"""Moves over rounds of H steps: what a round comes to, and averages over its steps.

Other than in `theory.moves.average` a bound may depend on H itself. The sums of k and k^2 over
k < H are those of the identity `sums_in_a_round`.
"""

from __future__ import annotations

import sympy as sp

from theory.algebra import is_zero
from theory.derivation import Proof
from theory.forms import ONE, Atom, Claim, Form
from theory.symbols import symbol

__all__ = ["average_line", "average_square", "late", "repeat"]

T, H, k = symbol("T"), symbol("H"), symbol("k")


def repeat(proof: Proof, claim: Claim, before: Atom, after: Atom, last: Atom) -> Claim:
    """Return ``last <= before + H c``: what H steps of ``after <= before + c`` come to."""
    label = proof.visit("repeat")
    claim = proof.one_step(label, claim)
    if set(claim.form.terms) - {ONE} != {before, after} or claim.form[after] != -1:
        proof.refuse(f"not of the form {after} <= {before} + c: {claim}")
    if not is_zero(claim.form[before] - 1) or not proof.domain.nonnegative(claim.form[ONE]):
        proof.refuse(f"not of the form {after} <= {before} + c, c >= 0: {claim}")
    form = {before: sp.Integer(1), ONE: H * claim.form[ONE], last: sp.Integer(-1)}
    return proof.record(Claim(Form(form)), label)


def _line(proof: Proof, bound: sp.Expr, start: sp.Expr, pace: sp.Expr) -> None:
    if (start * pace).has(k) or not is_zero(bound - start - k * pace):
        proof.refuse(f"{bound} is not {start} + k {pace}")


def average_line(
    proof: Proof, atom: Atom, bound: sp.Expr, start: sp.Expr, pace: sp.Expr
) -> tuple[Claim, sp.Expr]:
    """Average `bound` over k < H; it is proved to be start + k pace."""
    _line(proof, bound, start, pace)
    mean = start + pace * (H - 1) / 2
    return proof.bounded(atom, mean, "average over a round"), mean


def average_square(
    proof: Proof, atom: Atom, bound: sp.Expr, start: sp.Expr, pace: sp.Expr
) -> tuple[Claim, sp.Expr]:
    """Average the square of `bound` over k < H; `bound` is proved to be start + k pace."""
    _line(proof, bound, start, pace)
    mean = start**2 + start * pace * (H - 1) + pace**2 * (H - 1) * (2 * H - 1) / 6
    return proof.bounded(atom, mean, "average over a round"), mean


def late(proof: Proof, atom: Atom, bound: sp.Expr, begin: sp.Expr) -> tuple[Claim, sp.Expr]:
    """Average over T steps what is 0 for `begin` of them and `bound` on average for the others."""
    share = (T - begin) / T
    if not proof.domain.nonnegative(share) or not proof.domain.nonnegative(bound):
        proof.refuse(f"{share} or {bound} may be negative")
    return proof.bounded(atom, share * bound, "average over all steps"), share * bound
