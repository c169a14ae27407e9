"""Recursions of workers that take off what they differ by: D2 and gradient tracking.

D2        X_1 = W (X_0 - gam G_0),   X_{t+1} = W (2 X_t - X_{t-1} - gam (G_t - G_{t-1}))
tracking  Y_0 = G_0,   X_{t+1} = W (X_t - gam Y_t),   Y_{t+1} = W Y_t + G_{t+1} - G_t

In both the mean model moves by -gam times the mean gradient: of D2 the sum over t telescopes, and
mean Y = mean G from the start on. Where both stand still all models are one, X = W X, and the mean
gradient is 0: that is x*, whatever workers differ by.

On quadratics with one curvature a, an eigenvalue l of W and c = gam a, D2 has the modes

    z^2 - l (2 - c) z + l (1 - c) = 0;

all are inside the unit circle for 0 < c < 2 if and only if l > -1/(3 - 2 c), for short steps -1/3
(the move `modes`). l = 1 is the mean, with z = 1, which the first step leaves out, and 1 - c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from theory.algebra import is_zero
from theory.derivation import Proof
from theory.forms import ONE, Claim, Form
from theory.measured import Trajectory
from theory.mixing import least, matrix
from theory.symbols import symbol
from theory.testbed import Base

if TYPE_CHECKING:
    from theory.trials import Trial

__all__ = ["ORDERS", "inside", "largest", "modes", "negative", "run"]

ORDERS = ("d2", "tracking")

gam, L, neg = symbol("gam"), symbol("L"), symbol("neg")

KINDS = ("doubled", "dropped", "negated")
z, own, b, c0, w = sp.symbols("z l b c0 w")  # own: an eigenvalue of W


def inside() -> bool:
    """Whether z^2 + b z + c0 has both roots inside if 1 + b + c0, 1 - b + c0, 1 - c0 > 0.

    z = (1 + w)/(1 - w) takes the circle to a half plane: the polynomial becomes (1 - b + c0) w^2 +
    2 (1 - c0) w + (1 + b + c0), over (1 - w)^2. With positive coefficients both its roots have
    negative real parts, as their sum is negative, and their product positive.
    """
    moved = sp.together((z**2 + b * z + c0).subs(z, (1 + w) / (1 - w)) * (1 - w) ** 2)
    return is_zero(moved - ((1 - b + c0) * w**2 + 2 * (1 - c0) * w + (1 + b + c0)))


def modes(proof: Proof) -> tuple[sp.Expr, sp.Expr]:
    """Return what must not be negative: for the eigenvalue -neg and short steps, and for the mean.

    The conditions of `inside` are linear in l: positive at the least eigenvalue, where z = -1
    becomes a mode of short steps, and not negative at l = 1, they are positive between.

    Raises
    ------
    Refused
        If the mean does not follow gradient descent, or a mode may be outside.
    """
    label, step = proof.visit("modes"), gam * L
    terms = {"next": z**2, "now": -2 * own * z, "pull": own * step * z}
    terms |= {"before": own, "push": -own * step}
    parts = proof.mutated(label, {x: Form.of(ONE, e) for x, e in terms.items()}, KINDS)
    polynomial = Form.total(parts)[ONE]
    if not is_zero(polynomial.subs(own, 1) - (z - 1) * (z - 1 + step)):
        proof.refuse("the mean does not follow gradient descent")
    if not inside():
        proof.refuse("the criterion is not proved")
    at = {x: polynomial.subs(z, x) for x in (1, -1, 0)}
    short = sp.expand(at[-1].subs(gam, 0))
    lowest = -short.subs(own, 0) / sp.diff(short, own)
    for form in (at[1], at[-1], 1 - at[0], 1 + at[0]):
        if not proof.domain.nonnegative(sp.expand(form.subs(own, lowest)), strict=True):
            proof.refuse(f"{form} may not be positive at l = {lowest}")
        if not proof.domain.nonnegative(sp.expand(form.subs(own, 1))):
            proof.refuse(f"{form} may be negative at l = 1")
    proof.record(Claim(Form.of(ONE, at[-1])), f"{label}: at z = -1, for l >= {lowest}")
    return short.subs(own, -neg), 1 + at[0].subs(own, 1)


def largest(eigenvalue: float, step: float) -> float:
    """Return the largest modulus of the modes, gam a = `step`."""
    return float(np.abs(np.roots([1, -eigenvalue * (2 - step), eigenvalue * (1 - step)])).max())


def negative(topology: str, n: int) -> float:
    """Return neg, how far eigenvalues of W reach below 0."""
    return max(0.0, -least(topology, n))


def run(trial: Trial, oracle: Base, drawn: NDArray[Any]) -> Trajectory:
    """Return what all seeds do; drawn (S, T, n, ...) is all that is random in the gradients.

    trial.order is "d2" or "tracking".
    """
    w, gam = matrix(trial.topology, trial.n), trial.gam
    y, v = np.empty((*drawn.shape[:3], oracle.d)), np.empty((len(drawn), trial.T + 1, oracle.d))
    g, x = np.empty_like(y), np.broadcast_to(oracle.x0, y[:, 0].shape).copy()
    v[:, 0] = oracle.x0
    heading = last = np.zeros_like(x)  # of tracking; alone: where D2 would be without mixing
    alone = x
    for t in range(trial.T):
        y[:, t], g[:, t] = x, oracle.stochastic(x, drawn[:, t])
        if trial.order == "tracking":
            heading, last = heading + g[:, t] - last, g[:, t]
            x, heading = w @ (x - gam * heading), w @ heading
        else:
            mixed = 2 * x - alone - gam * g[:, t] if t else x - gam * g[:, t]
            alone, x = x - gam * g[:, t], w @ mixed
        v[:, t + 1] = x.mean(axis=1)
    return Trajectory(y, g, v)
