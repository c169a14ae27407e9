"""How far from v gradients are taken where they are bounded: lengths add up (Minkowski).

Workers step x_i <- x_i - gam u_i, where u_i is the gradient g_i, |g| <= sqrt(G2), or a momentum
m <- mom m + g. Every H steps they exchange: with s_i the model after the exchange before,

    p_i = s_i - x_i + e_i,   x_i <- sum_j W_ij (s_j - C(p_j)),   e_i <- p_i - C(p_i).

    v = mean x - mean e - eta mom mean m,   eta = gam / (1 - mom),

moves by -eta times the mean gradient, also at an exchange. So y_i - v, with y_i the model tau steps
before, has four parts, each with a bound in steps of eta sqrt(G2):

    x_i - mean x    (psi (1 + 2 phi) H + k)    k steps into a round, psi = lam / (1 - lam)
    mean e           phi H                     phi = sqrt(1 - delta) / (1 - sqrt(1 - delta))
    eta mom mean m   mom / (1 - mom)
    v moved since    tau

k is where the model stood that was read; the first tau reads are of x0, where all parts are 0, so
an average over reads is at most that over steps. Where memories meet neighbours, C(p_i) - p_i + e_i
does not vanish in the mean of a neighbourhood: hence 2 phi psi. With W = J or C = 1 lengths add up.
Letters of the steps: d = s - x, p what is to be said, r = y - v, w what v has moved by.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from theory.derivation import Proof
from theory.forms import ONE, Base, Claim, Form, Norm, Scalar, Vector, tidy
from theory.moves import unroll
from theory.rounds import repeat
from theory.symbols import symbol

__all__ = ["ETA", "PHI", "PSI", "Mechanisms", "norm", "part", "radius", "steepness", "virtual"]
__all__ += ["whole"]

H, k, gam, eta, L = (symbol(x) for x in ("H", "k", "gam", "eta", "L"))
mom, delta, lam = symbol("mom"), symbol("delta"), symbol("lam")

ETA = gam / (1 - mom)
PHI = sp.sqrt(1 - delta) / (1 - sp.sqrt(1 - delta))
PSI = lam / (1 - lam)

ZERO = sp.Integer(0)


def whole(name: str) -> Vector:
    """Return the stack `name` in one piece: for its norm and its square, not for products."""
    return Vector.of(Base(name, "whole"))


def norm(vector: Vector) -> Norm:
    """Return the atom |u| of a base vector u."""
    (base,) = vector.terms
    return Norm(base)


def steepness(proof: Proof) -> tuple[Vector, Claim]:
    """Return g, the gradients, and |g| <= sqrt(G2)."""
    g = whole("g")
    return g, proof.root(proof.axiom("second_moment", g))


def part(proof: Proof, claim: Claim, of: Vector, stack: Vector, most: Claim) -> Claim:
    """Replace in `claim` the norm of `of`, the mean or the deviation of `stack`, by `most`.

    `most` bounds the norm of a stack for all t, so it bounds that of `stack`.
    """
    claim = proof.substitute(claim, proof.root(proof.axiom("shorter", stack, of)), norm(of))
    (told,) = (atom for atom in most.form.terms if atom != ONE)
    always = Claim(Form({ONE: most.form[ONE], norm(stack): most.form[told]}))
    return proof.substitute(claim, always, norm(stack))


@dataclass(frozen=True)
class Mechanisms:
    """What workers do besides stepping alone and averaging every H steps."""

    momentum: bool = False
    gossip: bool = False
    feedback: bool = False
    late: bool = False

    def step(self, proof: Proof) -> sp.Expr:
        """Return the letter for the step of v, for which step L <= 1."""
        step = eta if self.momentum else gam
        if not proof.domain.nonnegative(1 - (ETA if self.momentum else gam) * L):
            proof.refuse(f"{step} L <= 1 is not proved")
        if self.momentum:
            proof.domain = proof.domain.also(eta * L <= 1)
        return step


def _buffer(proof: Proof, g: Vector, steep: Claim) -> tuple[Vector, Claim]:
    """Return m, the momentum, and |m| <= sqrt(G2) / (1 - mom)."""
    m, after = whole("m"), whole("m'")
    claim = proof.axiom("minkowski", after, mom * m + g)
    claim = proof.substitute(claim, steep, norm(g))
    most = unroll(proof, claim, norm(m), norm(after), ZERO, forever=True)
    return m, Claim(Form({ONE: most, norm(m): sp.Integer(-1)}))


def _walk(proof: Proof, moved: Vector, start: Vector, along: Vector, pace: Claim) -> Claim:
    """|moved| <= |start| + what one step, `along` with its factor, adds."""
    claim = proof.axiom("minkowski", moved, start + along)
    form = {atom: proof.domain.resolve(c) for atom, c in claim.form.terms.items()}
    (base,) = along.terms
    if base.part == "whole":
        return proof.substitute(Claim(Form(form)), pace, Norm(base))
    return part(proof, Claim(Form(form)), Vector.of(base), whole(base.name), pace)


def _memory(proof: Proof, along: Vector, pace: Claim) -> Claim:
    """|e| <= phi times the longest displacement d = s - x of a round."""
    d, after, p, e, error = (whole(name) for name in ("d", "d'", "p", "e", "e'"))
    gone = unroll(proof, _walk(proof, after, d, -along, pace), norm(d), norm(after), ZERO, steps=H)
    claim = proof.root(proof.axiom("contraction", p, error))
    claim = proof.substitute(claim, proof.axiom("minkowski", p, d + e), norm(p))
    claim = proof.substitute(claim, proof.bounded(norm(d), gone, "within a round"), norm(d))
    kept = unroll(proof, claim, norm(e), norm(error), ZERO, forever=True)
    return proof.bounded(norm(e), kept, "for all t")


def _start(proof: Proof, step: Claim, kept: Claim | None) -> sp.Expr:
    """|z~| after an exchange with neighbours, for ever."""
    z, after, last, mixed = (Vector.deviation(one) for one in ("z", "z'", "x", "x'"))
    moved = repeat(proof, step, norm(z), norm(after), norm(last))
    if kept is None:
        claim = proof.root(proof.axiom("mixing", last, mixed))
    else:
        said, e, error = (Vector.deviation(one) for one in ("s - C(p)", "e", "e'"))
        claim = proof.root(proof.axiom("mixing", said, mixed))
        parts = proof.axiom("minkowski", said, last - e + error)
        parts = part(proof, parts, e, whole("e"), kept)
        parts = part(proof, parts, error, whole("e'"), kept)
        claim = proof.substitute(claim, parts, norm(said))
    claim = proof.substitute(claim, moved, norm(last))
    return unroll(proof, claim, norm(z), norm(mixed), ZERO, forever=True)


def _lag(proof: Proof, step: sp.Expr, steep: Claim) -> Claim:
    """|v_t - v_{t - tau}|: v moves by -step times the mean gradient."""
    w, after, delay = Vector.mean("w"), Vector.mean("w'"), Scalar("delay")
    claim = _walk(proof, after, w, -step * Vector.mean("g"), steep)
    steps = proof.isolate(proof.axiom("latest", delay), delay)
    moved = unroll(proof, claim, norm(w), norm(after), ZERO, steps=steps)
    return proof.bounded(norm(w), moved, "within the delay")


def radius(proof: Proof, what: Mechanisms, step: sp.Expr) -> tuple[Vector, sp.Expr]:
    """Return r = y - v and a bound on |r|, for gradients taken at step k of a round.

    `step` is the letter for the step of v; models move by (1 - mom) times it along the momentum.
    """
    g, steep = steepness(proof)
    u, pace = _buffer(proof, g, steep) if what.momentum else (g, steep)
    gain = (1 - mom) * step if what.momentum else step
    kept = _memory(proof, gain * u, pace) if what.feedback else None
    z, after = Vector.deviation("z"), Vector.deviation("z'")
    aside = Vector({base._replace(part="deviation"): -gain for base in u.terms})
    walk = _walk(proof, after, z, aside, pace)
    start = _start(proof, walk, kept) if what.gossip else ZERO
    apart = unroll(proof, walk, norm(z), norm(after), start, steps=k)

    e, m, w, r = Vector.mean("e"), Vector.mean("m"), Vector.mean("w"), whole("r")
    parts = z + e if kept else z
    parts = parts + step * mom * m if what.momentum else parts
    parts = parts - w if what.late else parts
    claim = proof.axiom("minkowski", r, parts)
    claim = proof.substitute(claim, proof.bounded(norm(z), apart, "in a round"), norm(z))
    if kept:
        claim = part(proof, claim, e, whole("e"), kept)
    if what.momentum:
        claim = part(proof, claim, m, whole("m"), pace)
    if what.late:
        claim = proof.substitute(claim, _lag(proof, step, steep), norm(w))
    return r, proof.isolate(claim, norm(r))


def virtual(proof: Proof, what: Mechanisms, step: sp.Expr, gradient: Vector) -> Vector:
    """Return by how much v moves in a step whose mean gradient is `gradient`: -step times it.

    An exchange must leave v where it is.
    """
    m, x, s, e, error = (Vector.mean(one) for one in ("m", "x", "s", "e", "e'"))
    said = s - x + e - error  # the mean of C(p), p = s - x + e
    defect = (s - said) - error - (x - e)
    if _tidied(defect).terms:
        proof.refuse(f"an exchange moves v by {defect}")
    after = mom * m + gradient
    ahead: Vector = -(1 - mom) * step * after - step * mom * (after - m)
    plain: Vector = -step * gradient
    return _tidied(ahead) if what.momentum else plain


def _tidied(vector: Vector) -> Vector:
    return Vector({b: tidy(c) for b, c in vector.terms.items() if tidy(c) != 0})
