"""Axioms of workers on a graph that differ at the minimum: symmetric W, and shares one way.

For a symmetric W without negative eigenvalues S is the root of I - W, so 0 <= S <= I, and S takes
off what all workers have in common.
"""

from __future__ import annotations

from theory.axiom import Terms, axiom
from theory.forms import ONE, Form, Scalar, Vector, inner
from theory.statement import Assumption, Status
from theory.symbols import symbol

lam, zs, skew = symbol("lam"), symbol("zs"), symbol("skew")


@axiom(Status.ASSUMED, "hypothesis zs", Assumption.APART_AT_MINIMUM)
def pull_at_minimum(gradients: Vector) -> Terms:
    """Workers pull apart boundedly at the minimum: (1/n) sum_i |grad f_i(x*)|^2 <= zs."""
    return {"zs": Form.of(ONE, zs), "gradients": -1 * inner(gradients, gradients)}


@axiom(Status.SAMPLED, "a mean of permutations, by Birkhoff", Assumption.MIXING)
def no_farther(before: Vector, after: Vector) -> Terms:
    """A doubly stochastic W makes no stack longer: |W u| <= |u|."""
    return {"before": inner(before, before), "after": -1 * inner(after, after)}


@axiom(Status.SAMPLED, "S is symmetric", Assumption.POSITIVE, equality=True)
def symmetric(u: Vector, moved_u: Vector, v: Vector, moved_v: Vector) -> Terms:
    """<S u, v> = <u, S v>."""
    return {"one": inner(moved_u, v), "other": -1 * inner(u, moved_v)}


@axiom(Status.SAMPLED, "eigenvalues of W are in [0, 1]", Assumption.POSITIVE)
def root_shrinks(u: Vector, moved: Vector) -> Terms:
    """S^2 = I - W <= I: |S u| <= |u|."""
    return {"before": inner(u, u), "after": -1 * inner(moved, moved)}


@axiom(Status.SAMPLED, "eigenvalues of W below 1 are at most lam", Assumption.MIXING)
def root_keeps(u: Vector, moved: Vector) -> Terms:
    """S^2 = I - W >= 1 - lam on deviations: |S u|^2 >= (1 - lam)|u|^2."""
    return {"before": -(1 - lam) * inner(u, u), "after": inner(moved, moved)}


@axiom(
    Status.SAMPLED, "a sum of modes", Assumption.QUADRATIC, Assumption.ALIKE, Assumption.SYMMETRIC
)
def settles(growth: Scalar) -> Terms:
    """If the modes of all eigenvalues of W are inside, models grow by no factor."""
    return {"one": Form.of(ONE), "growth": Form.of(growth, -1)}


@axiom(Status.SAMPLED, "hypothesis lam on the shares", Assumption.SHARING)
def sharing(before: Vector, after: Vector) -> Terms:
    """Shares contract what adds up to 0: sum_i (P u)_i^2 / phi_i <= lam^2 sum_i u_i^2 / phi_i."""
    return {"before": lam**2 * inner(before, before), "after": -1 * inner(after, after)}


@axiom(Status.SAMPLED, "least of w_i^2 / phi_i, scaled to 1", Assumption.WEIGHTS)
def read_out(scaled: Vector, apart: Vector) -> Terms:
    """sum_i |z_i - xbar|^2 <= sum_i w_i^2/phi_i |z_i - xbar|^2."""
    return {"scaled": inner(scaled, scaled), "apart": -1 * inner(apart, apart)}


@axiom(Status.SAMPLED, "largest of w_i^2 / phi_i", Assumption.WEIGHTS)
def written_in(scaled: Vector, apart: Vector) -> Terms:
    """sum_i w_i^2/phi_i |z_i - xbar|^2 <= skew^2 sum_i |z_i - xbar|^2."""
    return {"scaled": -1 * inner(scaled, scaled), "apart": skew**2 * inner(apart, apart)}
