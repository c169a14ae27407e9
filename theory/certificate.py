"""The move `certificate`: an inequality as a sum of known ones with non-negative multipliers.

A semidefinite program finds such multipliers for one number of steps; here they are expressions in
the letters, so one identity serves every T and every step size. Squares take part as inequalities
|u|^2 >= 0, so a sum of squares needs nothing else. The identity must be exact: nothing is left
over, and nothing is given away.
"""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from theory.algebra import is_zero
from theory.derivation import Proof
from theory.forms import ONE, Claim, Form, shorter

__all__ = ["certificate"]

Parts = Mapping[str, tuple[sp.Expr, Claim]]


def certificate(proof: Proof, goal: Form, parts: Parts) -> Claim:
    """Return ``goal >= 0``, which is the sum of multiplier times inequality over `parts`.

    Raises
    ------
    Refused
        If a multiplier may be negative, or the sum is not the goal.
    """
    label = proof.visit("certificate")
    stated = {name: Form.of(ONE, multiplier) for name, (multiplier, _) in parts.items()}
    forms = proof.mutated(label, stated, ("doubled", "dropped", "negated"))
    total = Form({})
    for (name, (_, claim)), form in zip(parts.items(), forms, strict=True):
        multiplier = form[ONE]
        if not claim.equality and not proof.domain.nonnegative(multiplier):
            proof.refuse(f"the multiplier {multiplier} of {name} may be negative")
        total += multiplier * claim.form
    rest = Form({a: c for a, c in (goal - total).terms.items() if not is_zero(c)})
    if rest.terms:
        proof.refuse(f"{label} leaves {rest}")
    because = ", ".join(f"{shorter(m)} times {name}" for name, (m, _) in parts.items())
    return proof.record(Claim(goal), f"{label}: {because}")
