"""The move `boundary`: the step at which the first mode of a delayed recursion leaves the circle.

x_{t+1} = x_t - gam a x_{t-tau} has the modes z^t with z - 1 + gam a z^(-tau) = 0. Without a step
one of them is z = 1, the others are 0; with a short one, z = 1 - gam a + .., all are inside. On the
unit circle, z = exp(i phi), the chord z - 1 = 2 i sin(phi/2) exp(i phi/2) must be -gam a z^(-tau):

    length   2 sin(phi/2) = gam a
    angle    (tau + 1/2) phi + pi/2 = pi + 2 pi k

so the step is shortest at k = 0, phi = pi/(2 tau + 1). There, and wherever a mode meets the circle,
it moves outwards as the step grows: Re(z'/z) is a positive multiple of (2 tau + 1)(1 - cos phi). So
beyond that step there is always a mode outside: the limit is exact.
"""

from __future__ import annotations

import numpy as np
import sympy as sp

from theory.algebra import is_zero
from theory.derivation import Proof
from theory.forms import ONE, Claim, Form
from theory.positivity import Domain
from theory.symbols import symbol
from theory.testbed import Floats

__all__ = ["boundary", "modes", "outwards"]

gam, L, tau = symbol("gam"), symbol("L"), symbol("tau")

KINDS = ("doubled", "dropped", "negated")


def boundary(proof: Proof) -> sp.Expr:
    """Return the step at which the first mode of curvature L reaches the unit circle.

    Raises
    ------
    Refused
        If a short step does not bring all modes inside.
    """
    label = proof.visit("modes")
    terms = {"next": sp.Integer(1), "now": sp.Integer(-1), "late": gam * L}
    now, here, late = (
        form[ONE]
        for form in proof.mutated(label, {x: Form.of(ONE, c) for x, c in terms.items()}, KINDS)
    )
    if not is_zero(now + here) or not Domain().nonnegative(now, strict=True):
        proof.refuse("without a step z = 1 is no mode")
    if not Domain().nonnegative(late, strict=True):
        proof.refuse("a short step does not move z = 1 inwards")
    angle = _angle(proof)
    if not outwards():
        proof.refuse("a mode may come back")
    limit = 2 * now * sp.sin(angle / 2) / (late / gam)
    claim = Claim(Form.of(ONE, limit - gam))
    proof.record(claim, f"{label}: none is on the circle before z = exp(i {angle})")
    return limit


def _angle(proof: Proof) -> sp.Expr:
    """Return the smallest positive phi at which chord and late gradient have one direction."""
    label = proof.visit("angle")
    terms = {"chord": sp.Rational(1, 2), "late": tau, "square": sp.pi / 2, "against": -sp.pi}
    chord, turned, square, against = (
        form[ONE]
        for form in proof.mutated(label, {x: Form.of(ONE, c) for x, c in terms.items()}, KINDS)
    )
    angle = sp.factor(-(square + against) / (chord + turned))
    proof.record(Claim(Form.of(ONE, angle)), f"{label}: {chord + turned} turns and {square}")
    return angle


def outwards() -> bool:
    """Whether modes that meet the circle leave it: Re(z'/z) > 0 there.

    z^(tau+1) - z^tau = -c gives z'/z = (z - 1)/(c ((tau + 1) z - tau)), and with 1/z for the
    conjugate of z the real part of (z - 1)((tau + 1)/z - tau) is (2 tau + 1)(1 - (z + 1/z)/2).
    """
    z, c = sp.symbols("z c", positive=True)
    mode = z ** (tau + 1) - z**tau + c
    slope = -sp.diff(mode, c) / sp.diff(mode, z) / z - (z - 1) / (c * ((tau + 1) * z - tau))
    follows = is_zero(slope.subs(c, z**tau - z ** (tau + 1)))
    product = (z - 1) * ((tau + 1) / z - tau)
    real = (product + product.subs(z, 1 / z)) / 2
    return follows and is_zero(real - (2 * tau + 1) * (1 - (z + 1 / z) / 2))


def modes(delay: int, step: float) -> Floats:
    """Return the moduli of all modes, largest first, for gam a = `step`: (delay + 1,)."""
    coefficients = np.zeros(delay + 2)
    coefficients[:2] = 1, -1
    coefficients[-1] += step
    moduli: Floats = np.sort(np.abs(np.roots(coefficients)))[::-1]
    return moduli
