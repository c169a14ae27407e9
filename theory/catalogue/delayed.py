"""One gradient a step: a server takes in gradients as they come, taken at models of the past.

x_{t+1} = x_t - gam g_t, g_t = grad f(y_t) + xi_t, y_t = x_{t - tau_t}. T counts the server's steps.
Where n workers push and every push moves the model by 1/n of what it says, gam is the worker's
step divided by n, and a clock of all workers is n steps. Also with s = 0 gradients are taken in one
by one; a server that takes their mean once a clock is that of `bsp`.

Letters of the derivation: h = grad f(x_t), g = grad f(y_t), `sum` over the window of t (see
`theory.axioms.delays`).
"""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from theory import lemmas
from theory.derivation import Proof, Refused
from theory.forms import ONE, Claim, Scalar, Vector, inner
from theory.lemmas import NOISE, F, sq
from theory.moves import telescope
from theory.positivity import Domain
from theory.statement import Assumption, Kind, Measure, Source
from theory.symbols import symbol
from theory.theorem import Limit, Theorem, Tuned
from theory.tuning import Prepare, below, power_step

T, gam, L, Delta, sigma2 = (symbol(x) for x in ("T", "gam", "L", "Delta", "sigma2"))
taumax, tauC, tauavg = (symbol(x) for x in ("taumax", "tauC", "tauavg"))
n, s, Pw = symbol("n"), symbol("s"), symbol("Pw")

Mean = Callable[[], Claim]
DELAY, LONGEST, UNDER_WAY = Scalar("tau"), Scalar("max tau"), Scalar("under way")


def _missed(proof: Proof, longest: sp.Expr) -> tuple[Vector, Callable[[Claim], Claim], Scalar]:
    """x_t - y_t = -gam (sum g + sum xi) over the window of t, |x_t - y_t|^2 <= 2 gam^2 (...).

    Returns the sum, what to do with a claim that has its square, and the sum of |g|^2 that is left.
    """
    slopes, noise = Vector.mean("sum g"), Vector.mean("sum xi")
    within, rustle = Scalar("sum|g|^2"), Scalar("sum|xi|^2")

    def split(claim: Claim) -> Claim:
        (cross,) = inner(slopes, noise).terms
        young = proof.axiom("young", slopes, noise, sp.Integer(1))
        claim = proof.substitute(claim, young, cross)
        claim = proof.substitute(claim, proof.axiom("window", slopes, within, longest), sq(slopes))
        claim = proof.substitute(claim, proof.axiom("orthogonal_sum", noise, rustle), sq(noise))
        return proof.substitute(claim, proof.axiom("summed_variance", rustle, DELAY), rustle)

    return slopes + noise, split, within


def _nonconvex(proof: Proof, longest: sp.Expr, times: sp.Expr, mean: Mean) -> sp.Expr:
    """Descent at x_t by a gradient at y_t; what the past costs is paid by -(1 - gam L)|g|^2."""
    h, g, one = Vector.mean("h"), Vector.mean("g"), Scalar("noise")
    xi = NOISE.part("mean")
    claim = proof.axiom("descent", F, lemmas.F_NEXT, h, -gam * (g + xi))
    claim = proof.substitute(lemmas.drop_noise(proof, claim), proof.define(one, xi), sq(xi))
    claim = proof.substitute(claim, proof.axiom("summed_variance", one, ONE), one)
    (cross,) = inner(h, g).terms
    missed, split, within = _missed(proof, longest)
    claim = proof.substitute(claim, proof.axiom("smooth", h - g, gam * missed), cross)
    claim = telescope(proof, split(claim), F, lemmas.F_NEXT, Delta)
    claim = proof.substitute(claim, proof.axiom("counted", within, g, times), within)
    claim = proof.substitute(claim, mean(), DELAY)
    claim = proof.absorb(claim, sq(g), at={L: _shortest(longest * times)})
    return proof.isolate(claim, sq(h))


def _shortest(product: sp.Expr) -> sp.Expr:
    """Return the L for which gam L + 2 gam^2 L^2 product = 1."""
    return (sp.sqrt(1 + 8 * product) - 1) / (4 * product * gam)


def asynchronous(proof: Proof) -> sp.Expr:
    """Delays as claimed."""
    longest = proof.isolate(proof.axiom("longest_delay", LONGEST), LONGEST)
    times = proof.isolate(proof.axiom("most_under_way", UNDER_WAY), UNDER_WAY)
    return _nonconvex(proof, longest, times, lambda: proof.axiom("mean_delay", DELAY))


def stale(proof: Proof) -> sp.Expr:
    """Delays as the gate allows."""
    longest = proof.isolate(proof.axiom("gate", LONGEST), LONGEST)
    others = proof.axiom("one_each", UNDER_WAY)
    times = proof.isolate(others, UNDER_WAY)

    def mean() -> Claim:
        return proof.substitute(proof.axiom("delays_add_up", DELAY, UNDER_WAY), others, UNDER_WAY)

    return _nonconvex(proof, longest, times, mean)


TWICE = 2 * Delta / (gam * T) + 2 * gam * L * sigma2


def in_the_noise(mean: sp.Expr, larger: sp.Expr) -> Prepare:
    """Replace the mean delay by `larger`, and what it costs, gam L sigma2 (2 gam L larger), twice.

    For gam L (1 + 2 larger) <= 1 the cost of delays is below the noise of a step without delays.
    """

    def prepare(bound: sp.Expr, domain: Domain) -> sp.Expr:
        if not domain.nonnegative(larger**2 - mean**2) or not domain.nonnegative(mean):
            raise Refused(f"{larger} is not proved to exceed {mean}")
        return below(TWICE)(bound.subs(mean, larger), domain)

    return prepare


LIAN = Source(
    "Lian, Huang, Li, Liu",
    2015,
    "Asynchronous parallel stochastic gradient for nonconvex optimization",
    "arXiv:1506.08272; here with the concurrency tauC, after Koloskova, Stich, Jaggi 2022",
)
HO = Source(
    "Ho, Cipar, Cui, Lee, Kim, Gibbons, Gibson, Ganger, Xing",
    2013,
    "More effective distributed ML via a stale synchronous parallel parameter server",
    "there a regret; here the delays that the gate allows, in the bound of asgd-nonconvex",
)

FEW = sp.sqrt(taumax * tauC)
STALE = (Pw - 1) * sp.sqrt(2 * s + 1)
START = 2 * Delta / (gam * T)


def _tuned(mean: sp.Expr, typical: sp.Expr) -> Tuned:
    """Return the step that keeps delays below the noise."""
    limit = 1 / (L * (1 + 2 * typical))
    return Tuned(
        step=sp.Min(limit, sp.sqrt(Delta / (L * T * sigma2))),
        value=2 * L * Delta * (1 + 2 * typical) / T + 4 * sp.sqrt(L * Delta * sigma2 / T),
        rate_T=-sp.Rational(1, 2),
        rate_n=sp.Integer(0),
        compute=power_step(limit, in_the_noise(mean, typical)),
    )


ONE_BY_ONE = (
    "x_{t+1} = x_t - gam g(x_{t - tau_t}): a server takes in one gradient a step, as they come"
)
ONE_GRADIENT = frozenset(
    {Assumption.SMOOTH, Assumption.UNBIASED, Assumption.VARIANCE, Assumption.EQUAL}
)
THEOREMS = (
    Theorem(
        name="asgd-nonconvex",
        source=LIAN,
        measure=Measure.GRADSQ_X,
        statement=f"{ONE_BY_ONE}.",
        assumes=ONE_GRADIENT | {Assumption.DELAYS},
        conditions=(gam * L + 2 * gam**2 * L**2 * taumax * tauC <= 1,),
        bound=START + gam * L * sigma2 + 2 * gam**2 * L**2 * sigma2 * tauavg,
        derive=asynchronous,
        tuned=_tuned(tauavg, FEW),
        limits=(
            Limit(
                "bsp-nonconvex",
                {taumax: sp.Integer(0), tauC: sp.Integer(0), tauavg: sp.Integer(0)},
                Kind.IMPLIED_BY,
                target={n: sp.Integer(1)},
            ),
        ),
    ),
    Theorem(
        name="ssp-nonconvex",
        source=HO,
        measure=Measure.GRADSQ_X,
        statement=f"{ONE_BY_ONE}; of Pw workers, those more than s clocks ahead of the slowest "
        "wait.",
        assumes=ONE_GRADIENT | {Assumption.GATE},
        conditions=(gam * L + 2 * gam**2 * L**2 * (2 * s + 1) * (Pw - 1) ** 2 <= 1,),
        bound=START + gam * L * sigma2 + 2 * gam**2 * L**2 * sigma2 * (Pw - 1),
        derive=stale,
        tuned=_tuned(Pw - 1, STALE),
        limits=(
            Limit(
                "asgd-nonconvex",
                {},
                target={taumax: (2 * s + 1) * (Pw - 1), tauC: Pw - 1, tauavg: Pw - 1},
            ),
            Limit("bsp-nonconvex", {Pw: sp.Integer(1)}, Kind.IMPLIED_BY, target={n: sp.Integer(1)}),
        ),
    ),
)
