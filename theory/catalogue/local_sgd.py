"""Local SGD: every worker steps alone, x_i <- x_i - gam g_i(x_i); every H steps all average."""

from __future__ import annotations

import sympy as sp

from theory import lemmas
from theory.derivation import Proof
from theory.forms import ONE, Claim, Inner, Scalar, Vector, inner
from theory.lemmas import NOISE, F, sq
from theory.moves import average, telescope, unroll
from theory.symbols import symbol
from theory.theorem import Kind, Limit, Measure, Source, Theorem

n, T, H, k, gam, L, mu = (symbol(x) for x in ("n", "T", "H", "k", "gam", "L", "mu"))
Delta, R2, sigma2, zeta2, r = (symbol(x) for x in ("Delta", "R2", "sigma2", "zeta2", "r"))

X_NEXT = Scalar("X'")


def nonconvex(proof: Proof) -> sp.Expr:
    """Descent at xbar; the gradient differs from grad f(xbar) by at most L sqrt(D)."""
    atom, growth = lemmas.consensus(proof, gossip=False)
    spread, proof.perturbation = average(proof, atom, growth.squared)
    return lemmas.perturbed(proof, spread, atom)


def strongly_convex_iid(proof: Proof) -> sp.Expr:
    """Equal functions: D grows by the noise only; the mean contracts by 1 - gam mu."""
    z, g = Vector.stack("z"), Vector.stack("g")
    zbar, z_dev = z.part("mean"), z.part("deviation")
    gbar, g_dev = g.part("mean"), g.part("deviation")
    spread = proof.define(Scalar("D'"), z_dev - gam * (g_dev + NOISE.part("deviation")))
    spread = lemmas.deviation_noise(proof, lemmas.drop_noise(proof, spread))
    spread = lemmas.nonexpansive(proof, spread, z_dev, g_dev)
    worst = unroll(proof, spread, sq(z_dev), Scalar("D'"), sp.Integer(0), steps=H - 1)

    gaps, lowest = Scalar("mean_i f(x_i) - f*"), Scalar("f(y) - f*")
    claim = proof.define(X_NEXT, zbar - gam * (gbar + NOISE.part("mean")))
    claim = lemmas.mean_noise(proof, lemmas.drop_noise(proof, claim))
    (cross,) = inner(zbar, gbar).terms
    claim = proof.substitute(claim, proof.axiom("strong_convex_gap", gaps, g, z), cross)
    claim = proof.substitute(claim, proof.axiom("descent", gaps, F, g, -z_dev), gaps)
    # f* <= f(y), y = xbar - gbar / L, gives |gbar|^2 <= 2 L (f(xbar) - f*) + L^2 D.
    below = proof.axiom("descent", gaps, lowest, g, -z_dev - 1 / L * gbar)
    below = proof.substitute(below, proof.axiom("convex_lower", gaps, F, g, -z_dev), gaps)
    below = proof.absorb(below, lowest)
    claim = proof.substitute(claim, below, sq(gbar))
    claim = proof.absorb(claim, F, at={gam: 1 / L})
    claim = proof.relax(claim, sq(z_dev), gam * L * (1 + gam * L))
    claim = proof.substitute(claim, proof.bounded(sq(z_dev), worst, "within a round"), sq(z_dev))
    return unroll(proof, claim, sq(zbar), X_NEXT, R2, forever=True)


GROWTH = 1 + gam * L
DRIFT = sp.sqrt(zeta2) * (GROWTH**k - 1) / L
SPREAD = gam * sp.sqrt(sigma2 * (1 - 1 / n) * (GROWTH ** (2 * k) - 1) / (GROWTH**2 - 1))

THEOREMS = (
    Theorem(
        name="local-sgd-nonconvex",
        source=Source("", 0, ""),
        measure=Measure.GRADSQ,
        statement="",
        conditions=(gam * L <= 1, sp.Eq(sp.Mod(T, H), 0)),
        bound=2 * Delta / (gam * T)
        + gam * L * sigma2 / n
        + L**2 * sp.Sum((DRIFT + SPREAD) ** 2, (k, 0, H - 1)) / H,
        derive=nonconvex,
        perturbation=sp.Sum((DRIFT + SPREAD) ** 2, (k, 0, H - 1)) / H,
    ),
    Theorem(
        name="local-sgd-sc-iid",
        source=Source("", 0, ""),
        measure=Measure.DIST,
        statement="",
        conditions=(gam * L <= 1,),
        bound=(1 - gam * mu) ** T * R2
        + gam * sigma2 / (n * mu)
        + gam**2 * (L / mu) * (1 + gam * L) * sigma2 * (H - 1) * (1 - 1 / n),
        derive=strongly_convex_iid,
    ),
)
