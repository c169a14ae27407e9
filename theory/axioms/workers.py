"""Axioms of noise, of workers that differ, of gossip and of compressors."""

from __future__ import annotations

from theory.axiom import Terms, axiom
from theory.forms import ONE, Form, Norm, Scalar, Vector, inner
from theory.statement import Assumption, Status
from theory.symbols import symbol

n, sigma2, zeta2 = symbol("n"), symbol("sigma2"), symbol("zeta2")
lam, delta = symbol("lam"), symbol("delta")


@axiom(Status.SAMPLED, "the noise has zero mean given the past", Assumption.UNBIASED, equality=True)
def martingale_orthogonal(known: Vector, noise: Vector) -> Terms:
    """A vector fixed before the noise is drawn is orthogonal to it: E<u, xi> = 0."""
    return {"product": inner(known, noise)}


@axiom(
    Status.SAMPLED, "noise is independent between workers", Assumption.INDEPENDENT, equality=True
)
def independent(noise: Vector, total: Scalar) -> Terms:
    """The noise of the mean is one n-th: E|mean_i xi_i|^2 = (1/n) (1/n) sum_i E|xi_i|^2."""
    mean = noise.part("mean")
    return {"mean": inner(mean, mean), "workers": Form.of(total, -1 / n)}


@axiom(Status.ASSUMED, "hypothesis sigma2", Assumption.VARIANCE)
def bounded_variance(total: Scalar) -> Terms:
    """Noise of one worker: (1/n) sum_i E|xi_i|^2 <= sigma2."""
    return {"sigma2": Form.of(ONE, sigma2), "noise": Form.of(total, -1)}


@axiom(Status.ASSUMED, "hypothesis zeta2", Assumption.HETEROGENEITY)
def heterogeneity(spread: Vector) -> Terms:
    """Workers differ boundedly: (1/n) sum_i |grad f_i(x) - grad f(x)|^2 <= zeta2."""
    return {"zeta2": Form.of(ONE, zeta2), "spread": -1 * inner(spread, spread)}


@axiom(Status.ASSUMED, "definition of equal", Assumption.EQUAL, equality=True)
def equal(spread: Vector) -> Terms:
    """Workers are equal: grad f_i(x) - grad f(x) = 0."""
    (base,) = spread.terms
    return {"spread": Form.of(Norm(base))}


@axiom(Status.SAMPLED, "W doubly stochastic with ||W - J||_2 = lam", Assumption.MIXING)
def mixing(before: Vector, after: Vector) -> Terms:
    """Gossip contracts deviations: sum_i |(W u)_i - ubar|^2 <= lam^2 sum_i |u_i - ubar|^2."""
    return {"before": lam**2 * inner(before, before), "after": -1 * inner(after, after)}


@axiom(Status.SAMPLED, "hypothesis delta on the compressor", Assumption.CONTRACTION)
def contraction(before: Vector, error: Vector) -> Terms:
    """Compression keeps a part: E|p - C(p)|^2 <= (1 - delta)|p|^2."""
    return {"before": (1 - delta) * inner(before, before), "error": -1 * inner(error, error)}
