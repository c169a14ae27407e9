"""Axioms of lengths: gradients of bounded second moment, parts of a stack, mixings in turn."""

from __future__ import annotations

from theory.axiom import Terms, axiom
from theory.forms import ONE, Form, Norm, Scalar, Vector, inner
from theory.statement import Assumption, Status
from theory.symbols import symbol

G2, tau = symbol("G2"), symbol("tau")


@axiom(Status.ASSUMED, "hypothesis G2", Assumption.SECOND_MOMENT)
def second_moment(gradients: Vector) -> Terms:
    """Gradients are bounded, their noise included: (1/n) sum_i E|g_i|^2 <= G2."""
    return {"G2": Form.of(ONE, G2), "gradients": -1 * inner(gradients, gradients)}


@axiom(Status.ASSUMED, "hypothesis tau", Assumption.LATE)
def latest(delay: Scalar) -> Terms:
    """Models move by at most tau steps while a gradient is taken."""
    return {"tau": Form.of(ONE, tau), "delay": Form.of(delay, -1)}


@axiom(Status.SAMPLED, "mean and deviation are orthogonal")
def shorter(whole: Vector, part: Vector) -> Terms:
    """The mean and the deviation of a stack are no longer than the stack."""
    return {"whole": inner(whole, whole), "part": -1 * inner(part, part)}


@axiom(Status.SAMPLED, "a mean of permutations, by Birkhoff", Assumption.TURNS)
def no_longer(before: Vector, after: Vector) -> Terms:
    """A doubly stochastic W makes no deviation longer: |W u| <= |u|."""
    return {"before": inner(before, before), "after": -1 * inner(after, after)}


@axiom(Status.SAMPLED, "identity `one_peer_exponential`", Assumption.TURNS, equality=True)
def averaged(left: Vector) -> Terms:
    """Of what was before m mixings in a row, no deviation is left."""
    (base,) = left.terms
    return {"left": Form.of(Norm(base))}
