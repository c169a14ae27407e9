"""Axioms of one worker at a time: u_i = n g_i for the worker i whose turn it is, 0 for the others.

The turn is drawn evenly, after everything else of the step. So u is g on average, as if a message
had been compressed to one of its n parts, and n times as long.
"""

from __future__ import annotations

from theory.axiom import Terms, axiom
from theory.forms import Vector, inner
from theory.statement import Assumption, Status
from theory.symbols import symbol

n, nu = symbol("n"), symbol("nu")


@axiom(Status.SAMPLED, "the turn is drawn evenly", Assumption.BY_LOT, equality=True)
def by_lot(known: Vector, turn: Vector, gradients: Vector) -> Terms:
    """To what was known before the turn, u is g: E<w, u> = E<w, g>, means or deviations."""
    return {"turn": inner(known, turn), "all": -1 * inner(known, gradients)}


@axiom(Status.SAMPLED, "the turn is drawn evenly", Assumption.BY_LOT, equality=True)
def one_moves(turn: Vector, gradients: Vector) -> Terms:
    """The mean of u is the gradient of one worker: E|ubar|^2 = (1/n) sum_i E|g_i|^2."""
    return {"one": inner(turn, turn), "all": -1 * inner(gradients, gradients)}


@axiom(Status.SAMPLED, "the turn is drawn evenly", Assumption.BY_LOT, equality=True)
def others_stay(turn: Vector, gradients: Vector) -> Terms:
    """Who moves alone leaves the mean: (1/n) sum_i E|u_i - ubar|^2 = (n - 1)/n sum_i E|g_i|^2."""
    return {"apart": inner(turn, turn), "all": -(n - 1) * inner(gradients, gradients)}


@axiom(Status.SAMPLED, "hypothesis nu on the meetings", Assumption.MEETINGS)
def meeting(before: Vector, after: Vector) -> Terms:
    """Meetings contract on average: E sum_i |(W u)_i - ubar|^2 <= nu sum_i E|u_i - ubar|^2."""
    return {"before": nu * inner(before, before), "after": -1 * inner(after, after)}
