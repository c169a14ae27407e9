"""Facts of inner products and numbers; `theory.identities` proves the former."""

from __future__ import annotations

import sympy as sp

from theory.axiom import Terms, axiom
from theory.forms import ONE, Form, Norm, Scalar, Vector, inner
from theory.statement import Status


@axiom(Status.PROVED, "a square")
def square(u: Vector) -> Terms:
    """|u|^2 >= 0."""
    return {"square": inner(u, u)}


@axiom(Status.PROVED, "mean and deviation are orthogonal", equality=True)
def pythagoras(u: Vector, total: Scalar) -> Terms:
    """(1/n) sum_i |u_i|^2 = |ubar|^2 + (1/n) sum_i |u_i - ubar|^2."""
    mean, rest = u.part("mean"), u.part("deviation")
    return {
        "total": Form.of(total),
        "mean": -1 * inner(mean, mean),
        "deviation": -1 * inner(rest, rest),
    }


@axiom(Status.PROVED, "a square: |sqrt(s) u - v / sqrt(s)|^2 >= 0")
def young(u: Vector, v: Vector, s: sp.Expr) -> Terms:
    """|u + v|^2 <= (1 + s)|u|^2 + (1 + 1/s)|v|^2 for s > 0."""
    return {
        "first": (1 + s) * inner(u, u),
        "second": (1 + 1 / s) * inner(v, v),
        "sum": -1 * inner(u + v, u + v),
    }


@axiom(Status.PROVED, "Young's inequality at the best s")
def minkowski(whole: Vector, parts: Vector) -> Terms:
    """sqrt(E|sum_j c_j u_j|^2) <= sum_j |c_j| sqrt(E|u_j|^2); `whole` names the sum."""
    (name,) = whole.terms
    roots = {str(b): Form.of(Norm(b), sp.Abs(c)) for b, c in parts.terms.items()}
    return {**roots, "whole": Form.of(Norm(name), -1)}


@axiom(Status.SAMPLED, "the exponential lies above its tangent at 0")
def exponential(exponent: sp.Expr) -> Terms:
    """exp(x) >= 1 + x."""
    return {"exp": Form.of(ONE, sp.exp(exponent)), "tangent": Form.of(ONE, -1 - exponent)}
