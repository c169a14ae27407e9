"""The engine: composes axioms into one-step inequalities, and remembers how.

A `Proof` holds the domain of a theorem and applies moves to claims. Every move checks its own side
conditions and raises `Refused` if one is not proved: no multiplier of the wrong sign, no atom left
over, no step condition wider than the one used. Moves over time are in `theory.moves`. A proof can
be run with a `Mutation`; then it must fail, or compute another bound (`theory.mutants`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NoReturn

import sympy as sp

from theory.algebra import is_zero
from theory.axioms import AXIOMS
from theory.forms import ONE, Atom, Bound, Claim, Form, Inner, Norm, Scalar, Vector, inner, tidy
from theory.positivity import Domain
from theory.statement import Assumption, Status, Step

__all__ = ["Mutation", "Proof", "Refused"]


class Refused(Exception):
    """A move does not apply: its side condition is false or not proved."""


@dataclass(frozen=True)
class Mutation:
    """One change at `site`: a term is doubled, dropped or negated, or a move is skipped."""

    site: str
    kind: str

    FACTORS = {"doubled": 2, "dropped": 0, "negated": -1}

    def __str__(self) -> str:
        return f"{self.site} {self.kind}"


class Proof:
    """A derivation in progress.

    Parameters
    ----------
    domain : Domain
        Where the theorem is claimed.
    mutation : Mutation, optional
        The change under which the derivation is run.

    Attributes
    ----------
    steps : list of Step
        What was shown so far.
    sites : dict of str to tuple of str
        Where the derivation can be mutated, and how.
    used : set of Assumption
        The hypotheses of the axioms used so far.
    perturbation : Expr or None
        The bound on P, if the derivation has found one.
    letters : dict
        What the letters stand for that `written` writes out.
    """

    def __init__(self, domain: Domain, mutation: Mutation | None = None) -> None:
        self.domain = domain
        self.mutation = mutation
        self.steps: list[Step] = []
        self.sites: dict[str, tuple[str, ...]] = {}
        self.used: set[Assumption] = set()
        self.perturbation: sp.Expr | None = None
        self._count: dict[str, int] = {}
        self.letters: dict[sp.Dummy, sp.Expr] = {}

    def refuse(self, why: str) -> NoReturn:
        """Raise `Refused`."""
        raise Refused(why)

    # --- bookkeeping ------------------------------------------------------------------------------

    def visit(self, name: str) -> str:
        """Return a label for this use of `name`, the same in every run."""
        self._count[name] = self._count.get(name, 0) + 1
        return f"{name}#{self._count[name]}"

    def skipped(self, label: str) -> bool:
        """Register the move `label`; say whether the mutation leaves it out."""
        self.sites[label] = ("skipped",)
        return self.mutation == Mutation(label, "skipped")

    def mutated(self, label: str, terms: Mapping[str, Form], kinds: Iterable[str]) -> list[Form]:
        """Register the terms of `label`; return them, one changed if the mutation says so."""
        forms = []
        for name, form in terms.items():
            site = f"{label}.{name}"
            self.sites[site] = tuple(kinds)
            if self.mutation is not None and self.mutation.site == site:
                form = Mutation.FACTORS[self.mutation.kind] * form
            forms.append(form)
        return forms

    def one_step(self, label: str, claim: Claim) -> Claim:
        """Register the coefficients of a one-step inequality as places to mutate."""
        terms = {str(atom): Form.of(atom, c) for atom, c in claim.form.terms.items()}
        kinds = ("doubled", "dropped", "negated")
        return Claim(Form.total(self.mutated(label, terms, kinds)))

    def record(self, claim: Claim, because: str, status: Status = Status.PROVED) -> Claim:
        """Write `claim` down as a step and return it."""
        if self.mutation is None:
            self.steps.append(Step(str(claim), because, status))
        return claim

    # --- claims -----------------------------------------------------------------------------------

    def axiom(self, name: str, *arguments: object) -> Claim:
        """Return an instance of the axiom `name`."""
        axiom = AXIOMS[name]
        self.used |= axiom.needs
        terms = axiom.terms(*arguments)
        # c q >= 0 scaled by 2 is the same claim, and so is c q = 0 under any factor.
        alone = ("dropped",) if axiom.equality else ("dropped", "negated")
        kinds = alone if len(terms) == 1 else ("doubled", "dropped", "negated")
        forms = self.mutated(self.visit(name), terms, kinds)
        return self.record(Claim(Form.total(forms), axiom.equality), name, axiom.status)

    def bounded(self, atom: Atom, bound: sp.Expr, because: str) -> Claim:
        """Return ``atom <= bound``, which a move over time has computed, with a letter for `bound`.

        The letter keeps later coefficients small; bounds of non-negative atoms are non-negative.
        """
        letter = Bound(f"bound({atom})", positive=True)
        self.letters[letter] = self.written(bound)
        self.record(Claim(Form({ONE: bound, atom: sp.Integer(-1)})), because)
        return Claim(Form({ONE: letter, atom: sp.Integer(-1)}))

    def written(self, bound: sp.Expr) -> sp.Expr:
        """Write out the letters that stand for bounds computed before."""
        return bound.xreplace(self.letters)

    # --- moves ------------------------------------------------------------------------------------

    def substitute(self, claim: Claim, by: Claim, atom: Atom) -> Claim:
        """Add the multiple of `by` that removes `atom` from `claim`."""
        label = self.visit(f"substitute {atom}")
        if self.skipped(label):
            return claim
        if by.form[atom] == 0 or claim.form[atom] == 0:
            self.refuse(f"{atom} is not in both of: {claim}; {by}")
        factor = tidy(-claim.form[atom] / by.form[atom])
        if not by.equality and not self.domain.nonnegative(factor):
            self.refuse(f"{atom} cannot be replaced: the multiplier {factor} may be negative")
        form = (claim.form + factor * by.form).without(atom)
        return self.record(Claim(form, claim.equality and by.equality), label)

    def absorb(
        self, claim: Claim, atom: Atom, at: Mapping[sp.Symbol, sp.Expr] | None = None
    ) -> Claim:
        """Leave out `atom`, whose coefficient is proved to be <= 0.

        With `at`, the coefficient must vanish there: the step condition is exactly the one needed.
        """
        label = self.visit(f"absorb {atom}")
        if self.skipped(label):
            return claim
        coefficient = claim.form[atom]
        if not atom.nonnegative:
            self.refuse(f"{atom} has no sign")
        if not self.domain.nonnegative(-coefficient):
            self.refuse(f"the coefficient {coefficient} of {atom} may be positive")
        if at is not None and not is_zero(coefficient.subs(at)):
            self.refuse(f"the coefficient {coefficient} of {atom} does not vanish at {at}")
        return self.record(Claim(claim.form.without(atom)), label)

    def relax(self, claim: Claim, atom: Atom, factor: sp.Expr) -> Claim:
        """Multiply the coefficient of `atom` by `factor` >= 1, to make it simpler."""
        label = self.visit(f"relax {atom}")
        if self.skipped(label):
            return claim
        coefficient = claim.form[atom]
        signs = self.domain.nonnegative(coefficient), self.domain.nonnegative(factor - 1)
        if not (atom.nonnegative and all(signs)):
            self.refuse(f"{factor} times {coefficient} {atom} is not proved to be larger")
        larger = Form.of(atom, tidy(factor * coefficient))
        return self.record(Claim(claim.form.without(atom) + larger), label)

    def define(self, scalar: Scalar, *vectors: Vector) -> Claim:
        """Name a sum of squares: what an update makes of a distance, or a second moment."""
        form = Form.total(inner(u, u) for u in vectors) - Form.of(scalar)
        return self.record(Claim(form, equality=True), f"definition of {scalar}")

    def root(self, claim: Claim) -> Claim:
        """Take roots: c |u|^2 - |v|^2 >= 0 gives sqrt(c) |u| - |v| >= 0; likewise c - |v|^2."""
        roots: dict[Atom, sp.Expr] = {}
        signs: list[bool] = []
        for atom, c in claim.form.terms.items():
            if not atom.nonnegative:
                self.refuse(f"{atom} has no root")
            positive = self.domain.nonnegative(c)
            if not positive and not self.domain.nonnegative(-c):
                self.refuse(f"the coefficient {c} of {atom} has no sign")
            value = sp.sqrt(c) if positive else -sp.sqrt(-c)
            roots[Norm(atom.left) if isinstance(atom, Inner) else atom] = value
            signs.append(positive)
        if sorted(signs) != [False, True]:
            self.refuse(f"no root of {claim}")
        return self.record(Claim(Form(roots)), "root")

    def isolate(self, claim: Claim, atom: Atom) -> sp.Expr:
        """Solve ``claim`` for `atom`: nothing else but a constant may be left."""
        if set(claim.form.terms) - {ONE} != {atom}:
            self.refuse(f"not solved for {atom}: {claim}")
        coefficient = -claim.form[atom]
        if not self.domain.nonnegative(coefficient, strict=True):
            self.refuse(f"the coefficient {coefficient} of {atom} may vanish or be negative")
        bound = self.written(claim.form[ONE] / coefficient)
        self.record(Claim(Form({ONE: bound, atom: sp.Integer(-1)})), f"divide by that of {atom}")
        return bound
