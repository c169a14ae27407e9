"""Axioms of gradients that are those of single losses, drawn evenly from a finite sum.

<u, v> is the mean over the losses f_j, f = (1/m) sum_j f_j, where a vector differs between them.
"""

from __future__ import annotations

from theory.axiom import Terms, axiom
from theory.forms import ONE, Form, Scalar, Vector, inner
from theory.statement import Assumption, Status
from theory.symbols import symbol

Lmax, ss = symbol("Lmax"), symbol("ss")

GOWER = "Gower et al. 2019, SGD: general analysis and improved rates, section 3"


@axiom(Status.SAMPLED, "mean and deviation are orthogonal", Assumption.DRAWN, equality=True)
def drawn(gradients: Vector, mean: Vector, total: Scalar) -> Terms:
    """(1/n) sum_i E|xi_i|^2 = (1/m) sum_j |grad f_j(x)|^2 - |grad f(x)|^2."""
    return {
        "total": Form.of(total, -1),
        "gradients": inner(gradients, gradients),
        "mean": -1 * inner(mean, mean),
    }


@axiom(Status.SAMPLED, GOWER, Assumption.SMOOTH_LOSSES)
def expected_smoothness(gap: Scalar, moved: Vector) -> Terms:
    """(1/m) sum_j |grad f_j(x) - grad f_j(x*)|^2 <= 2 Lmax (f(x) - f*)."""
    return {"gap": Form.of(gap, 2 * Lmax), "moved": -1 * inner(moved, moved)}


@axiom(Status.ASSUMED, "definition of ss", Assumption.NOISE_AT_MINIMUM)
def noise_at_minimum(gradients: Vector) -> Terms:
    """(1/m) sum_j |grad f_j(x*)|^2 <= ss."""
    return {"ss": Form.of(ONE, ss), "gradients": -1 * inner(gradients, gradients)}
