"""The move `add_up`: distances divided by falling steps, added up over all steps (Abel)."""

from __future__ import annotations

import sympy as sp

from theory.algebra import is_zero
from theory.derivation import Proof
from theory.forms import ONE, Atom, Claim, Form, Scalar
from theory.symbols import symbol

__all__ = ["add_up"]

T, t = symbol("T"), symbol("t")


def add_up(
    proof: Proof,
    claim: Claim,
    before: Atom,
    after: Atom,
    most: sp.Expr,
    step: tuple[Scalar, sp.Expr],
) -> Claim:
    """Average ``0 <= w_t (before - after) + k gam_t + ...`` over t < T, for weights w_t that grow.

    sum_t w_t (D_t - D_{t+1}) = w_0 D_0 + sum_t (w_t - w_{t-1}) D_t - w_{T-1} D_T is at most
    w_{T-1} times the largest D_t, which is at most `most`. `step` names the average of gam_t.

    Raises
    ------
    Refused
        If weights may fall, or another coefficient depends on t.
    """
    label = proof.visit("add up")
    claim = proof.one_step(label, claim)
    weight, (name, gam_t) = claim.form[before], step
    if not is_zero(claim.form[after] + weight):
        proof.refuse(f"not of the form w ({before} - {after}) + ...: {claim}")
    grows = (weight**2).subs(t, t + 1) - weight**2
    if not (proof.domain.nonnegative(weight) and proof.domain.nonnegative(grows)):
        proof.refuse(f"{weight} may fall")
    rest = claim.form.without(before, after, ONE)
    rest += Form.of(name, sp.cancel(claim.form[ONE] / gam_t))
    for atom, c in rest.terms.items():
        if not is_zero(c - c.subs(t, 0)):
            proof.refuse(f"the coefficient {c} of {atom} depends on t")
    whole = Form.of(ONE, weight.subs(t, T - 1) * most / T)
    return proof.record(
        Claim(Form({a: c.subs(t, 0) for a, c in rest.terms.items()}) + whole), label
    )
