"""Lemmas of runs without noise that end somewhere: steps contract, lengths add up.

Letters: z what two runs differ by, g what their gradients do, p = z - gam g what is left of z;
rho = 1 - gam mu.
"""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from theory import lemmas
from theory.algebra import is_zero
from theory.derivation import Proof
from theory.forms import ONE, Atom, Bound, Claim, Form, Norm, Scalar, Vector
from theory.lemmas import sq
from theory.radius import norm
from theory.symbols import symbol

__all__ = ["given", "is_read", "pull", "rounds", "shrink", "steep", "walk"]

H, gam, mu, rho = (symbol(x) for x in ("H", "gam", "mu", "rho"))

LEFT = Scalar("|z - gam g|^2")


def shrink(proof: Proof, z: Vector, g: Vector, p: Vector) -> Claim:
    """|p| <= rho |z| where gam (mu + L) <= 2; from here on rho is a letter, below 1."""
    claim = lemmas.gradient_step(proof, proof.define(LEFT, z - gam * g), z, g)
    claim = proof.substitute(claim, proof.define(LEFT, p), LEFT)
    factor = 1 - gam * mu
    if set(claim.form.terms) != {sq(z), sq(p)} or not is_zero(claim.form[sq(z)] - factor**2):
        proof.refuse(f"{claim} is not a contraction by 1 - gam mu")
    if claim.form[sq(p)] != -1 or not proof.domain.nonnegative(factor):
        proof.refuse(f"{claim} has no root with 1 - gam mu")
    proof.domain = proof.domain.also(rho < 1)
    named = Claim(Form({norm(z): rho, norm(p): sp.Integer(-1)}))
    return proof.record(named, "root, rho = 1 - gam mu")


def rounds(proof: Proof) -> sp.Expr:
    """Return rho^H, from here on below 1, by induction: rho^(H+1) = rho rho^H."""
    if not is_zero(rho ** (H + 1) - rho * rho**H):
        proof.refuse("no induction")
    if not proof.domain.nonnegative(1 - rho, strict=True):
        proof.refuse("rho may be 1")
    proof.domain = proof.domain.also(rho**H < 1)
    return rho**H


def walk(proof: Proof, after: Vector, parts: Vector, *bounds: Claim) -> Claim:
    """|after| <= the sum of |parts|, with each bound in place of what it bounds."""
    claim = proof.axiom("minkowski", after, parts)
    for bound in bounds:
        below = [x for x, c in bound.form.terms.items() if isinstance(x, Norm) and c.is_negative]
        if len(below) != 1:
            proof.refuse(f"{bound} does not bound one length")
        claim = proof.substitute(claim, bound, below[0])
    return claim


def steep(proof: Proof, u: Vector, z: Vector, of: Vector | None = None) -> Claim:
    """|u| <= L |z| for gradients that differ by u; or |of| <= L |z|, its mean or deviation."""
    claim = proof.root(proof.axiom("smooth", u, z))
    if of is None:
        return claim
    shorter = proof.root(proof.axiom("shorter", u, of))
    return proof.substitute(shorter, claim, norm(u))


def is_read(proof: Proof, claim: Claim, form: Mapping[Atom, sp.Expr]) -> Claim:
    """Return `claim`; refuse unless it is ``form >= 0``, coefficient by coefficient."""
    rest = (claim.form - Form(form)).terms
    if not all(is_zero(c) for c in rest.values()):
        proof.refuse(f"{claim} is not what is used of it: {Claim(Form(form))}")
    return claim


def pull(proof: Proof, star: Vector) -> Claim:
    """|star| <= sqrt(zs), the gradients at the minimum."""
    return proof.root(proof.axiom("pull_at_minimum", star))


def given(proof: Proof, vector: Vector, length: sp.Expr) -> Claim:
    """|vector| = `length`, what a letter means."""
    letter = Bound(f"{norm(vector)} given", positive=True)
    proof.letters[letter] = length
    return Claim(Form({ONE: letter, norm(vector): sp.Integer(-1)}))
