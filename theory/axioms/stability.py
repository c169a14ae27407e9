"""Axioms of linear recursions: when x_t, a sum of modes z^t, dies out.

For a quadratic f every eigenvector of its Hessian is for itself; with curvature a it obeys a
recursion with constant coefficients, whose modes are the roots of a polynomial.
"""

from __future__ import annotations

from theory.axiom import Terms, axiom
from theory.forms import ONE, Form, Scalar
from theory.statement import Assumption, Status


@axiom(Status.SAMPLED, "roots depend continuously on the coefficients", equality=True)
def modes_stay(before: Scalar, after: Scalar) -> Terms:
    """As long as no mode is on the unit circle, as many are inside as before."""
    return {"before": Form.of(before), "after": Form.of(after, -1)}


@axiom(Status.SAMPLED, "a sum of modes", Assumption.QUADRATIC)
def modes_inside(growth: Scalar) -> Terms:
    """If all modes are inside the unit circle, x_t grows by no factor: limsup |x_t|^(1/t) <= 1."""
    return {"one": Form.of(ONE), "growth": Form.of(growth, -1)}
