"""Bounded gradients: how far from v they are taken, in steps of eta sqrt(G2), adds up.

With |g| <= sqrt(G2) wherever it is taken, nothing has to be paid back by the gradient itself: the
only step condition is eta L <= 1, and workers may differ as they like. The lengths are in
`theory.radius`; `composition-G` has them all.
"""

from __future__ import annotations

import sympy as sp

from theory import lemmas
from theory.derivation import Proof
from theory.lemmas import sq
from theory.radius import ETA, PHI, PSI, Mechanisms, radius, virtual
from theory.rounds import average_square, late
from theory.statement import INDEPENDENT_NOISE, Assumption, Kind, Measure, Source
from theory.symbols import symbol
from theory.theorem import Limit, Theorem, Tuned
from theory.tuning import Prepare, as_stated, enlarge, power_step

n, T, Tp, H, tau = (symbol(x) for x in ("n", "T", "Tp", "H", "tau"))
gam, L, mom, lam, delta = (symbol(x) for x in ("gam", "L", "mom", "lam", "delta"))
Delta, sigma2, G2 = (symbol(x) for x in ("Delta", "sigma2", "G2"))
taumax, tauC, tauavg = (symbol(x) for x in ("taumax", "tauC", "tauavg"))
eta, R0 = symbol("eta"), symbol("R0")

HALF, ZERO, UNIT = sp.Rational(1, 2), sp.Integer(0), sp.Integer(1)


def squares(start: sp.Expr) -> sp.Expr:
    """Return the average of (start + k)^2 over k < H."""
    return start**2 + start * (H - 1) + (H - 1) * (2 * H - 1) / 6


def leading(step: sp.Expr) -> sp.Expr:
    """Return what the bound is where all gradients are taken at v."""
    return 2 * Delta / (step * T) + step * L * sigma2 / n


def tuned(apart: sp.Expr, share: sp.Expr = UNIT, prepare: Prepare = as_stated) -> Tuned:
    """Return the step `share` times that of plain SGD, with the mean square radius `apart`."""
    spread = L**2 * G2 * apart
    return Tuned(
        step=sp.Min(
            share / L,
            share * sp.sqrt(2 * Delta * n / (L * T * sigma2)),
            share * sp.cbrt(2 * Delta / (spread * T)),
        ),
        value=2 * Delta * L / T
        + 2 * sp.sqrt(2 * L * Delta * sigma2 / (n * T))
        + 2 * sp.cbrt(spread) * sp.cbrt(2 * Delta / T) ** 2,
        rate_T=-HALF,
        rate_n=-HALF,
        compute=power_step(share / L, prepare),
    )


def _bounded(
    proof: Proof, what: Mechanisms, start: sp.Expr = ZERO, begin: sp.Expr = ZERO
) -> sp.Expr:
    """Descent at v; |grad f(v) - m| <= L |r|, r = y - v, which is 0 in the first `begin` steps.

    `start` is proposed for |r| when a round begins, in steps of step sqrt(G2).
    """
    step = what.step(proof)
    r, far = radius(proof, what, step)
    pace = step * sp.sqrt(G2)
    claim, mean = average_square(proof, sq(r), far, pace * start, pace)
    if begin != ZERO:
        claim, mean = late(proof, sq(r), mean, begin)
    bound = lemmas.perturbed(proof, claim, sq(r), lambda said: virtual(proof, what, step, said))
    proof.letters[eta] = ETA
    proof.perturbation = proof.written(mean)
    return proof.written(bound)


def local(proof: Proof) -> sp.Expr:
    """Workers part by k steps of length gam sqrt(G2)."""
    return _bounded(proof, Mechanisms())


def post_local(proof: Proof) -> sp.Expr:
    """As `local`, after Tp steps together."""
    return _bounded(proof, Mechanisms(), begin=Tp)


def momentum(proof: Proof) -> sp.Expr:
    """As `local`, with steps along a momentum; v is ahead of the mean model."""
    return _bounded(proof, Mechanisms(momentum=True), AHEAD)


def composition(proof: Proof) -> sp.Expr:
    """All at once."""
    everything = Mechanisms(momentum=True, gossip=True, feedback=True, late=True)
    return _bounded(proof, everything, START)


APART = gam**2 * G2 * squares(ZERO)
SHARE = (T - Tp) / T
AHEAD = mom / (1 - mom)
START = H * (PHI + PSI + 2 * PHI * PSI) + AHEAD + tau

YU_YANG_ZHU = Source(
    "Yu, Yang, Zhu",
    2019,
    "Parallel restarted SGD with faster convergence and less communication: demystifying why "
    "model averaging works for deep learning",
    "arXiv:1807.06629; there 4 H^2 in place of (H - 1)(2 H - 1)/6",
)
LIN = Source(
    "Lin, Stich, Patel, Jaggi",
    2020,
    "Don't use large mini-batches, use local SGD",
    "arXiv:1808.07217; the algorithm, here with the bound of pr-sgd",
)
YU_JIN_YANG = Source(
    "Yu, Jin, Yang",
    2019,
    "On the linear speedup analysis of communication efficient momentum SGD for distributed "
    "non-convex optimization",
    "arXiv:1905.03817; here workers keep their momenta when models are averaged",
)
KOLOSKOVA = Source(
    "Koloskova, Loizou, Boreiri, Jaggi, Stich",
    2020,
    "A unified theory of decentralized SGD with changing topology and local updates",
    "arXiv:2003.10422; here for bounded gradients, where lengths add up, with momentum, delays "
    "and error feedback (Basu, Data, Karakus, Diggavi 2019, arXiv:1906.02367)",
)

BOUNDED = frozenset({Assumption.SMOOTH, Assumption.SECOND_MOMENT}) | INDEPENDENT_NOISE
ROUNDS = sp.Eq(sp.Mod(T, H), 0)
ALONE = {lam: ZERO, delta: UNIT, tau: ZERO}
STEPS = "x_i <- x_i - gam g_i(x_i); every H steps x_i <- mean_j x_j"

THEOREMS = (
    Theorem(
        name="pr-sgd",
        source=YU_YANG_ZHU,
        measure=Measure.GRADSQ,
        statement=f"{STEPS}. Equal start. Workers may differ.",
        assumes=BOUNDED,
        conditions=(gam * L <= 1, ROUNDS),
        bound=leading(gam) + L**2 * APART,
        derive=local,
        perturbation=APART,
        tuned=tuned(squares(ZERO)),
        limits=(Limit("bsp-nonconvex", {H: UNIT}, Kind.IMPLIED_BY),),
    ),
    Theorem(
        name="post-local-sgd",
        source=LIN,
        measure=Measure.GRADSQ,
        statement=f"Tp steps x <- x - gam mean_i g_i(x), then {STEPS}. Workers may differ.",
        assumes=BOUNDED,
        conditions=(gam * L <= 1, sp.Eq(sp.Mod(T - Tp, H), 0)),
        bound=leading(gam) + SHARE * L**2 * APART,
        derive=post_local,
        perturbation=SHARE * APART,
        tuned=tuned(squares(ZERO), prepare=enlarge((SHARE, UNIT))),
        limits=(
            Limit("pr-sgd", {Tp: ZERO}),
            Limit("bsp-nonconvex", {Tp: T}, Kind.IMPLIED_BY),
            Limit("bsp-nonconvex", {H: UNIT}, Kind.IMPLIED_BY),
        ),
    ),
    Theorem(
        name="local-momentum-G",
        source=YU_JIN_YANG,
        measure=Measure.GRADSQ,
        statement="m_i <- mom m_i + g_i(x_i); x_i <- x_i - gam m_i; every H steps "
        "x_i <- mean_j x_j. Equal start, m_i = 0. Workers may differ. "
        "v = mean x - eta mom mean m.",
        assumes=BOUNDED,
        conditions=(gam * L <= 1 - mom, ROUNDS),
        bound=leading(eta) + eta**2 * L**2 * G2 * squares(AHEAD),
        where={eta: ETA},
        derive=momentum,
        perturbation=eta**2 * G2 * squares(AHEAD),
        tuned=tuned(squares(AHEAD), 1 - mom),
        limits=(
            Limit("pr-sgd", {mom: ZERO}),
            Limit("bsp-nonconvex", {mom: ZERO, H: UNIT}, Kind.IMPLIED_BY),
        ),
    ),
    Theorem(
        name="composition-G",
        source=KOLOSKOVA,
        measure=Measure.GRADSQ,
        statement="m_i <- mom m_i + g_i(y_i), y_i = x_i of tau steps before; x_i <- x_i - gam m_i; "
        "every H steps p_i = s_i - x_i + e_i, x_i <- sum_j W_ij (s_j - C(p_j)), "
        "e_i <- p_i - C(p_i), s_i <- x_i. Equal start, m_i = e_i = 0. Workers may differ. "
        "v = mean x - mean e - eta mom mean m. A server that takes in one gradient a step: n = 1.",
        assumes=BOUNDED | {Assumption.MIXING, Assumption.CONTRACTION, Assumption.LATE},
        conditions=(gam * L <= 1 - mom, ROUNDS),
        bound=leading(eta) + eta**2 * L**2 * G2 * squares(R0),
        where={eta: ETA, R0: START},
        derive=composition,
        perturbation=eta**2 * G2 * squares(R0),
        tuned=tuned(squares(START), 1 - mom),
        limits=(
            Limit("pr-sgd", {**ALONE, mom: ZERO}),
            Limit("local-momentum-G", ALONE),
            Limit("bsp-nonconvex", {**ALONE, mom: ZERO, H: UNIT}, Kind.IMPLIED_BY),
            Limit(
                "asgd-nonconvex",
                {lam: ZERO, delta: UNIT, mom: ZERO, H: UNIT, n: UNIT},
                Kind.IMPLIED_BY,
                (gam * L + 2 * gam**2 * L**2 * tau**2 <= 1, tau >= 2, G2 >= sigma2),
                target={taumax: tau, tauC: tau, tauavg: tau},
            ),
        ),
    ),
)
