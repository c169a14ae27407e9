"""The move `potential`: several quantities that feed each other, added up so that the sum shrinks.

A quantity that grows where another shrinks says nothing alone. With weights c_j the sum
V = sum_j c_j q_j has a one-step inequality in V only, if the rest can be absorbed.
"""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from theory.derivation import Proof
from theory.forms import Atom, Claim, Form, Scalar

__all__ = ["potential", "step"]

Weights = Mapping[Atom, sp.Expr]


def potential(proof: Proof, name: Scalar, weights: Weights) -> Claim:
    """Return ``sum_j c_j q_j - V = 0``, the definition of V = `name`.

    Raises
    ------
    Refused
        If a weight may be negative: V would not bound its parts.
    """
    label = proof.visit(f"potential {name}")
    terms = {str(atom): Form.of(atom, c) for atom, c in weights.items()}
    forms = proof.mutated(label, terms, ("doubled", "dropped", "negated"))
    total = Form.total(forms)
    for atom, c in total.terms.items():
        if not (atom.nonnegative and proof.domain.nonnegative(c)):
            proof.refuse(f"the weight {c} of {atom} may be negative")
    return proof.record(Claim(total - Form.of(name), equality=True), f"definition of {name}")


def step(
    proof: Proof, before: Claim, after: Claim, first: Atom, *moves: tuple[Claim, Atom]
) -> Claim:
    """Return V' <= V + ..., from V and V' by name and from what one step does to their parts.

    Parameters
    ----------
    before, after : Claim
        The definitions of V and V'.
    first : Atom
        The part of V that V takes the place of.
    *moves : tuple of (Claim, Atom)
        For every part of V': an inequality in which it is bounded, and the part.
    """
    claim = after
    for bound, part in moves:
        claim = proof.substitute(claim, bound, part)
    return proof.substitute(claim, before, first)
