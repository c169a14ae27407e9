"""Axioms of smooth and convex functions.

For stacks they are averages over workers, each with its own point and, unless stated, its own f_i.
"""

from __future__ import annotations

from theory.axiom import Terms, axiom
from theory.forms import Form, Scalar, Vector, inner
from theory.statement import Assumption, Status
from theory.symbols import symbol

L, Ltil, mu = symbol("L"), symbol("Ltil"), symbol("mu")

NESTEROV = "Nesterov 2004, Introductory Lectures on Convex Optimization, chapters 1.2 and 2.1"


@axiom(Status.SAMPLED, NESTEROV, Assumption.SMOOTH)
def descent(here: Scalar, there: Scalar, gradient: Vector, step: Vector) -> Terms:
    """For L-smooth f, f(y) <= f(x) + <grad f(x), y - x> + (L/2)|y - x|^2."""
    return {
        "f(x)": Form.of(here),
        "f(y)": Form.of(there, -1),
        "slope": inner(gradient, step),
        "curvature": L / 2 * inner(step, step),
    }


@axiom(Status.SAMPLED, NESTEROV, Assumption.CONVEX)
def convex_lower(here: Scalar, there: Scalar, gradient: Vector, step: Vector) -> Terms:
    """For convex f, f(y) >= f(x) + <grad f(x), y - x>."""
    return {
        "f(x)": Form.of(here, -1),
        "f(y)": Form.of(there),
        "slope": -1 * inner(gradient, step),
    }


@axiom(Status.SAMPLED, NESTEROV, Assumption.STRONGLY_CONVEX)
def strong_convex_gap(gap: Scalar, gradient: Vector, offset: Vector) -> Terms:
    """For mu-strongly convex f, f(x) - f* <= <grad f(x), x - x*> - (mu/2)|x - x*|^2."""
    return {
        "gap": Form.of(gap, -1),
        "slope": inner(gradient, offset),
        "curvature": -mu / 2 * inner(offset, offset),
    }


@axiom(Status.SAMPLED, NESTEROV, Assumption.STRONGLY_CONVEX)
def quadratic_growth(gap: Scalar, offset: Vector) -> Terms:
    """For mu-strongly convex f, f(x) - f* >= (mu/2)|x - x*|^2."""
    return {"gap": Form.of(gap), "curvature": -mu / 2 * inner(offset, offset)}


@axiom(Status.SAMPLED, NESTEROV, Assumption.CONVEX, Assumption.SMOOTH)
def convex_smooth_gap(gap: Scalar, gradient: Vector, offset: Vector) -> Terms:
    """For convex L-smooth f, f(x) - f* <= <grad f(x), x - x*> - |grad f(x)|^2 / (2 L)."""
    return {
        "gap": Form.of(gap, -1),
        "slope": inner(gradient, offset),
        "gradient": -1 / (2 * L) * inner(gradient, gradient),
    }


@axiom(Status.SAMPLED, NESTEROV, Assumption.CONVEX, Assumption.SMOOTH)
def interpolation(
    here: Scalar, there: Scalar, gradient: Vector, gradient_there: Vector, step: Vector
) -> Terms:
    """For convex L-smooth f, f(y) >= f(x) + <grad f(x), y-x> + |grad f(y) - grad f(x)|^2 / (2 L).

    These inequalities, for all pairs of finitely many points, say all that there is to say about f.
    """
    apart = gradient_there - gradient
    return {
        "f(x)": Form.of(here, -1),
        "f(y)": Form.of(there),
        "slope": -1 * inner(gradient, step),
        "gradients": -1 / (2 * L) * inner(apart, apart),
    }


@axiom(Status.SAMPLED, NESTEROV, Assumption.CONVEX, Assumption.SMOOTH, Assumption.EQUAL)
def cocoercive_pairs(gradients: Vector, points: Vector) -> Terms:
    """For equal convex L-smooth f_i, <g~, x~> >= |g~|^2 / L for deviations of x and grad f(x).

    It is the average over pairs of workers of co-coercivity,
    <grad f(x) - grad f(y), x - y> >= |grad f(x) - grad f(y)|^2 / L.
    """
    return {
        "slope": inner(gradients, points),
        "gradients": -1 / L * inner(gradients, gradients),
    }


@axiom(Status.SAMPLED, NESTEROV, Assumption.STRONGLY_CONVEX, Assumption.SMOOTH)
def strongly_cocoercive(gradients: Vector, points: Vector) -> Terms:
    """For mu-strongly convex L-smooth f, (mu + L)<g, z> >= mu L |z|^2 + |g|^2.

    Here g and z are differences of gradients and of points.
    """
    return {
        "slope": (mu + L) * inner(gradients, points),
        "points": -mu * L * inner(points, points),
        "gradients": -1 * inner(gradients, gradients),
    }


@axiom(Status.SAMPLED, "definition of L-smooth", Assumption.SMOOTH)
def smooth(gradients: Vector, points: Vector) -> Terms:
    """For L-smooth f, |grad f(x) - grad f(y)|^2 <= L^2 |x - y|^2."""
    return {"points": L**2 * inner(points, points), "gradients": -1 * inner(gradients, gradients)}


@axiom(Status.SAMPLED, "hypothesis Ltil", Assumption.SMOOTH_ON_AVERAGE)
def smooth_on_average(gradients: Vector, points: Vector) -> Terms:
    """On average over workers |grad f_i(x) - grad f_i(y)|^2 <= Ltil^2 |x - y|^2."""
    return {
        "points": Ltil**2 * inner(points, points),
        "gradients": -1 * inner(gradients, gradients),
    }


@axiom(Status.SAMPLED, NESTEROV, Assumption.STRONGLY_CONVEX)
def expanding(gradients: Vector, points: Vector) -> Terms:
    """For mu-strongly convex f, |grad f(x) - grad f(y)|^2 >= mu^2 |x - y|^2."""
    return {"points": -(mu**2) * inner(points, points), "gradients": inner(gradients, gradients)}
