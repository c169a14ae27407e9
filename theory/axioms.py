"""The proof obligations that algebra cannot discharge, each with a name, a formula and a source.

An axiom is a function from vectors and scalars to the terms of a claim: their sum is >= 0 (or = 0).
`Status.ASSUMED` marks a hypothesis (a definition, such as bounded variance), `Status.SAMPLED` a
textbook consequence that `theory.samplers` tries on random instances, `Status.PROVED` an identity
of inner products that `theory.lemmas` proves. The letters are those of `theory.symbols`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import sympy as sp

from theory.forms import ONE, Claim, Form, Norm, Scalar, Vector, inner
from theory.symbols import symbol
from theory.theorem import Status

__all__ = ["AXIOMS", "Axiom"]

n, gam, L, mu = (symbol(x) for x in ("n", "gam", "L", "mu"))
sigma2, zeta2, lam, delta = (symbol(x) for x in ("sigma2", "zeta2", "lam", "delta"))

Terms = Mapping[str, Form]


@dataclass(frozen=True)
class Axiom:
    """A named inequality (or equality) between atoms.

    Parameters
    ----------
    name : str
        Key in `AXIOMS`.
    text : str
        The statement in words.
    source : str
        Author and year, or why no source is needed.
    status : Status
        How sure it is.
    terms : callable
        Builds the terms of the claim, by label, from vectors, scalars and numbers.
    equality : bool
        Whether the sum of the terms is zero rather than non-negative.
    """

    name: str
    text: str
    source: str
    status: Status
    terms: Callable[..., Terms]
    equality: bool = False

    def claim(self, *arguments: object) -> Claim:
        """Return the claim for `arguments`."""
        return Claim(Form.total(self.terms(*arguments).values()), self.equality)


AXIOMS: dict[str, Axiom] = {}


def _axiom(
    status: Status, source: str, *, equality: bool = False
) -> Callable[[Callable[..., Terms]], Axiom]:
    """Register the decorated function; its docstring is the statement."""

    def keep(terms: Callable[..., Terms]) -> Axiom:
        text = " ".join((terms.__doc__ or "").split())
        AXIOMS[terms.__name__] = Axiom(terms.__name__, text, source, status, terms, equality)
        return AXIOMS[terms.__name__]

    return keep


NESTEROV = "Nesterov 2004, Introductory Lectures on Convex Optimization, chapters 1.2 and 2.1"


# --- functions ------------------------------------------------------------------------------------


@_axiom(Status.SAMPLED, NESTEROV)
def descent(here: Scalar, there: Scalar, gradient: Vector, step: Vector) -> Terms:
    """F L-smooth: f(y) <= f(x) + <grad f(x), y - x> + (L/2)|y - x|^2."""
    return {
        "f(x)": Form.of(here),
        "f(y)": Form.of(there, -1),
        "slope": inner(gradient, step),
        "curvature": L / 2 * inner(step, step),
    }


@_axiom(Status.SAMPLED, NESTEROV)
def convex_lower(here: Scalar, there: Scalar, gradient: Vector, step: Vector) -> Terms:
    """F convex: f(y) >= f(x) + <grad f(x), y - x>."""
    return {
        "f(x)": Form.of(here, -1),
        "f(y)": Form.of(there),
        "slope": -1 * inner(gradient, step),
    }


@_axiom(Status.SAMPLED, NESTEROV)
def convex_smooth_gap(gap: Scalar, gradient: Vector, offset: Vector) -> Terms:
    """F convex and L-smooth: f(x) - f* <= <grad f(x), x - x*> - |grad f(x)|^2 / (2 L)."""
    return {
        "gap": Form.of(gap, -1),
        "slope": inner(gradient, offset),
        "gradient": -1 / (2 * L) * inner(gradient, gradient),
    }


@_axiom(Status.SAMPLED, NESTEROV)
def strong_convex_gap(gap: Scalar, gradient: Vector, offset: Vector) -> Terms:
    """F mu-strongly convex: f(x) - f* <= <grad f(x), x - x*> - (mu/2)|x - x*|^2."""
    return {
        "gap": Form.of(gap, -1),
        "slope": inner(gradient, offset),
        "curvature": -mu / 2 * inner(offset, offset),
    }


@_axiom(Status.SAMPLED, NESTEROV)
def cocoercive(gradients: Vector, points: Vector) -> Terms:
    """F convex and L-smooth: <grad f(x) - grad f(y), x - y> >= |grad f(x) - grad f(y)|^2 / L."""
    return {
        "slope": inner(gradients, points),
        "gradients": -1 / L * inner(gradients, gradients),
    }


@_axiom(Status.SAMPLED, NESTEROV)
def strongly_cocoercive(gradients: Vector, points: Vector) -> Terms:
    """F mu-strongly convex and L-smooth: (mu + L)<g, z> >= mu L |z|^2 + |g|^2 for differences."""
    return {
        "slope": (mu + L) * inner(gradients, points),
        "points": -mu * L * inner(points, points),
        "gradients": -1 * inner(gradients, gradients),
    }


@_axiom(Status.SAMPLED, "definition of L-smooth")
def smooth(gradients: Vector, points: Vector) -> Terms:
    """F L-smooth: |grad f(x) - grad f(y)|^2 <= L^2 |x - y|^2."""
    return {"points": L**2 * inner(points, points), "gradients": -1 * inner(gradients, gradients)}


@_axiom(Status.SAMPLED, NESTEROV)
def expanding(gradients: Vector, points: Vector) -> Terms:
    """F mu-strongly convex: |grad f(x) - grad f(y)|^2 >= mu^2 |x - y|^2."""
    return {"points": -(mu**2) * inner(points, points), "gradients": inner(gradients, gradients)}


# --- noise and workers ----------------------------------------------------------------------------


@_axiom(Status.SAMPLED, "the noise has zero mean given the past", equality=True)
def martingale_orthogonal(known: Vector, noise: Vector) -> Terms:
    """A vector fixed before the noise is drawn is orthogonal to it: E<u, xi> = 0."""
    return {"product": inner(known, noise)}


@_axiom(Status.SAMPLED, "noise is independent between workers", equality=True)
def independent(noise: Vector, total: Scalar) -> Terms:
    """The noise of the mean is one n-th: E|mean_i xi_i|^2 = (1/n) (1/n) sum_i E|xi_i|^2."""
    mean = noise.part("mean")
    return {"mean": inner(mean, mean), "workers": Form.of(total, -1 / n)}


@_axiom(Status.ASSUMED, "hypothesis sigma2")
def bounded_variance(total: Scalar) -> Terms:
    """Noise of one worker: (1/n) sum_i E|xi_i|^2 <= sigma2."""
    return {"sigma2": Form.of(ONE, sigma2), "noise": Form.of(total, -1)}


@_axiom(Status.ASSUMED, "hypothesis zeta2")
def heterogeneity(spread: Vector) -> Terms:
    """Workers differ boundedly: (1/n) sum_i |grad f_i(x) - grad f(x)|^2 <= zeta2."""
    return {"zeta2": Form.of(ONE, zeta2), "spread": -1 * inner(spread, spread)}


@_axiom(Status.SAMPLED, "W doubly stochastic with ||W - J||_2 = lam")
def mixing(before: Vector, after: Vector) -> Terms:
    """Gossip contracts deviations: sum_i |(W u)_i - ubar|^2 <= lam^2 sum_i |u_i - ubar|^2."""
    return {"before": lam**2 * inner(before, before), "after": -1 * inner(after, after)}


@_axiom(Status.SAMPLED, "hypothesis delta on the compressor")
def contraction(before: Vector, error: Vector) -> Terms:
    """Compression keeps a part: E|p - C(p)|^2 <= (1 - delta)|p|^2."""
    return {"before": (1 - delta) * inner(before, before), "error": -1 * inner(error, error)}


# --- geometry: proved in theory.lemmas ------------------------------------------------------------


@_axiom(Status.PROVED, "a square", equality=False)
def square(u: Vector) -> Terms:
    """|u|^2 >= 0."""
    return {"square": inner(u, u)}


@_axiom(Status.PROVED, "mean and deviation are orthogonal", equality=True)
def pythagoras(u: Vector, total: Scalar) -> Terms:
    """(1/n) sum_i |u_i|^2 = |ubar|^2 + (1/n) sum_i |u_i - ubar|^2."""
    mean, rest = u.part("mean"), u.part("deviation")
    return {
        "total": Form.of(total),
        "mean": -1 * inner(mean, mean),
        "deviation": -1 * inner(rest, rest),
    }


@_axiom(Status.PROVED, "a square: |sqrt(s) u - v / sqrt(s)|^2 >= 0")
def young(u: Vector, v: Vector, s: sp.Expr) -> Terms:
    """|u + v|^2 <= (1 + s)|u|^2 + (1 + 1/s)|v|^2 for s > 0."""
    return {
        "first": (1 + s) * inner(u, u),
        "second": (1 + 1 / s) * inner(v, v),
        "sum": -1 * inner(u + v, u + v),
    }


@_axiom(Status.PROVED, "Young's inequality at the best s")
def minkowski(whole: Vector, parts: Vector) -> Terms:
    """sqrt(E|sum_j c_j u_j|^2) <= sum_j |c_j| sqrt(E|u_j|^2); `whole` names the sum."""
    (name,) = whole.terms
    roots = {str(b): Form.of(Norm(b), sp.Abs(c)) for b, c in parts.terms.items()}
    return {**roots, "whole": Form.of(Norm(name), -1)}
