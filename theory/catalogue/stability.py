"""How long a step may be if gradients are late: exactly, on quadratics, without noise.

With curvatures up to L, x_{t+1} = x_t - gam grad f(x_{t-tau}) dies out for every start if and only
if gam L < 2 sin(pi / (2 (2 tau + 1))): 2 for tau = 0, the limit of gradient descent, 1 for tau = 1,
about pi / (2 tau + 1) for large tau. The bound says what x_t grows by, at most by the factor 1; the
condition is the one needed, at its end a mode stays for ever (`theory.stability`).
"""

from __future__ import annotations

import sympy as sp

from theory.algebra import is_zero
from theory.delayed import THRESHOLD
from theory.derivation import Proof
from theory.forms import ONE, Claim, Form, Scalar
from theory.stability import boundary
from theory.statement import Assumption, Measure, Source
from theory.symbols import symbol
from theory.theorem import Limit, Theorem

gam, L, tau = symbol("gam"), symbol("L"), symbol("tau")

NONE = sp.Integer(0)
BEGIN, INSIDE, GROWTH = Scalar("inside at short steps"), Scalar("inside"), Scalar("growth")


def stable(proof: Proof) -> sp.Expr:
    """All tau + 1 modes are inside for short steps, and none leaves before the boundary."""
    limit = boundary(proof)
    (stated,) = proof.domain.conditions
    slack = stated.gts - stated.lts
    if not isinstance(stated, sp.Lt) or not is_zero(slack - (limit - gam) * L):
        proof.refuse(f"{stated} is not gam < {limit}")
    every = proof.record(Claim(Form({ONE: tau + 1, BEGIN: sp.Integer(-1)}), True), "a short step")
    claim = proof.substitute(proof.axiom("modes_stay", BEGIN, INSIDE), every, BEGIN)
    if not is_zero(proof.isolate(claim, INSIDE) - tau - 1):
        proof.refuse("not all modes are inside")
    return proof.isolate(proof.axiom("modes_inside", GROWTH), GROWTH)


LEVIN_MAY = Source(
    "Levin, May",
    1976,
    "A note on difference-delay equations",
    "Theoretical Population Biology 9; there for populations, here for gradients that are late",
)

THEOREMS = (
    Theorem(
        name="delay-stability",
        source=LEVIN_MAY,
        measure=Measure.GROWTH,
        statement="x_{t+1} = x_t - gam grad f(x_{t-tau}) without noise; the delay is the same at "
        "every step. For gam L above the limit x_t grows without end from almost every start.",
        assumes=frozenset({Assumption.QUADRATIC}),
        conditions=(gam * L < THRESHOLD * L,),
        bound=sp.Integer(1),
        derive=stable,
        # Without delay gam L < 2; half the step, twice the curvature: only gam L counts.
        limits=(Limit("delay-stability", {tau: NONE, gam: gam / 2, L: 2 * L}, target={tau: NONE}),),
        attained=True,
    ),
)
