"""Axioms of views: what a worker sees of the updates of others, compared with one fixed order.

Update t is that of worker p in its clock c, t = c Pw + p; x_t has in it all updates before t, the
view y_t, at which its gradient is taken, those that the worker happens to see. w_t = y_t - x_t is
made of the updates that are in one of them only. `swapped` and `falling_steps` are about averages
over t < T, the others about every t.
"""

from __future__ import annotations

import sympy as sp

from theory.axiom import Terms, axiom
from theory.axioms.delays import SWAPPED
from theory.axioms.functions import NESTEROV
from theory.forms import ONE, Form, Scalar, Vector, inner
from theory.statement import Assumption, Status
from theory.symbols import symbol

T, s, Pw, Fd, G2 = (symbol(x) for x in ("T", "s", "Pw", "Fd", "G2"))


@axiom(Status.SAMPLED, NESTEROV, Assumption.CONVEX)
def convex_gap(gap: Scalar, gradient: Vector, offset: Vector) -> Terms:
    """For convex f, f(x) - f(x*) <= <grad f(x), x - x*>; x* may be any point."""
    return {"gap": Form.of(gap, -1), "slope": inner(gradient, offset)}


@axiom(Status.ASSUMED, "hypothesis Fd", Assumption.REACH)
def within_reach(offset: Vector) -> Terms:
    """The run stays near x*: (1/2) E|x_t - x*|^2 <= Fd^2."""
    return {"Fd": Form.of(ONE, 2 * Fd**2), "distance": -1 * inner(offset, offset)}


@axiom(Status.SAMPLED, "Cauchy-Schwarz for every update", Assumption.SECOND_MOMENT)
def apart(gradient: Vector, missed: Vector, steps: Scalar) -> Terms:
    """For w_t made of updates of length gam_u |g_u|, E<g_t, w_t> <= G2 times their sum of gam_u."""
    return {"steps": Form.of(steps, G2), "product": -1 * inner(gradient, missed)}


@axiom(Status.SAMPLED, "for clock c of another worker only c - s .. c + s", Assumption.VIEWS)
def views_differ(count: Scalar) -> Terms:
    """An update is in the wrong place in at most (2 s + 1)(Pw - 1) views.

    A view of clock c' has in it, for sure, all clocks < c' - s, and none > c' + s. So of each of
    the others at most the 2 s + 1 views of clocks c - s, .., c + s differ in an update of clock c.
    """
    return {"views": Form.of(ONE, (2 * s + 1) * (Pw - 1)), "count": Form.of(count, -1)}


@axiom(Status.SAMPLED, SWAPPED)
def swapped(steps: Scalar, step: Scalar, times: sp.Expr) -> Terms:
    """If every update is in at most m of the w_t, the steps in them are m steps on average."""
    return {"step": Form.of(step, times), "steps": Form.of(steps, -1)}


@axiom(Status.PROVED, "identity `root_sum`")
def falling_steps(step: Scalar, first: sp.Expr) -> Terms:
    """Steps first/sqrt(t + 1) are at most 2 first/sqrt(T) on average over t < T."""
    return {"root": Form.of(ONE, 2 * first / sp.sqrt(T)), "step": Form.of(step, -1)}
