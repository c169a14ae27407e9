"""Linear forms: what a one-step inequality is made of.

A *vector* is a formal sum of base vectors. Workers are handled by splitting each stack
u = (u_1, ..., u_n) into its mean and its deviation from the mean, which are orthogonal in
<u, v> = (1/n) sum_i E<u_i, v_i>; so `inner` drops mixed products, and Pythagoras is arithmetic.
An *atom* is an inner product of two base vectors, the root of a second moment, or a named
non-negative scalar such as F = E f(v_t) - f*. A *form* is a linear combination of atoms with sympy
coefficients, and a *claim* says that a form is >= 0 (or = 0).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import sympy as sp

from theory.algebra import at_reference

__all__ = ["ONE", "Atom", "Base", "Bound", "Claim", "Form", "Inner", "Norm", "Scalar", "Vector"]
__all__ += ["inner", "shorter", "tidy"]


class Base(NamedTuple):
    """A base vector: the mean or the deviation of a stack over workers, or all of it (a norm)."""

    name: str
    part: str

    def __str__(self) -> str:
        return f"{self.name}~" if self.part == "deviation" else self.name


@dataclass(frozen=True)
class Inner:
    """E<left, right>, averaged over workers; non-negative if both are the same."""

    left: Base
    right: Base

    @property
    def nonnegative(self) -> bool:
        """Whether the atom is a square."""
        return self.left == self.right

    def __str__(self) -> str:
        return f"|{self.left}|^2" if self.nonnegative else f"<{self.left},{self.right}>"


@dataclass(frozen=True)
class Norm:
    """sqrt(E|base|^2)."""

    base: Base
    nonnegative = True

    def __str__(self) -> str:
        return f"|{self.base}|"


@dataclass(frozen=True)
class Scalar:
    """A non-negative number, such as a gap of function values."""

    name: str
    nonnegative = True

    def __str__(self) -> str:
        return self.name


Atom = Inner | Norm | Scalar
ONE = Scalar("1")


@dataclass(frozen=True)
class Vector:
    """A formal sum of base vectors with sympy coefficients."""

    terms: Mapping[Base, sp.Expr]

    @classmethod
    def of(cls, base: Base) -> Vector:
        """Return the base vector `base`."""
        return cls({base: sp.Integer(1)})

    @classmethod
    def mean(cls, name: str) -> Vector:
        """Return the mean of the stack `name`."""
        return cls.of(Base(name, "mean"))

    @classmethod
    def deviation(cls, name: str) -> Vector:
        """Return the deviation of the stack `name` from its mean."""
        return cls.of(Base(name, "deviation"))

    @classmethod
    def stack(cls, name: str) -> Vector:
        """Return the whole stack `name`, one vector per worker."""
        return cls.mean(name) + cls.deviation(name)

    def part(self, part: str) -> Vector:
        """Return the ``"mean"`` or the ``"deviation"`` of this stack."""
        return Vector({b: c for b, c in self.terms.items() if b.part == part})

    def __add__(self, other: Vector) -> Vector:
        bases = [*self.terms, *(b for b in other.terms if b not in self.terms)]
        return Vector({b: self.terms.get(b, 0) + other.terms.get(b, 0) for b in bases})

    def __rmul__(self, factor: sp.Expr | int) -> Vector:
        return Vector({b: factor * c for b, c in self.terms.items()})

    def __neg__(self) -> Vector:
        return -1 * self

    def __sub__(self, other: Vector) -> Vector:
        return self + (-other)


@dataclass(frozen=True)
class Form:
    """A linear combination of atoms."""

    terms: Mapping[Atom, sp.Expr]

    @classmethod
    def of(cls, atom: Atom, coefficient: sp.Expr | int = 1) -> Form:
        """Return `coefficient` times `atom`."""
        return cls({atom: sp.sympify(coefficient)})

    @classmethod
    def total(cls, forms: Iterable[Form]) -> Form:
        """Return the sum of `forms`; coefficients are cancelled, zero ones dropped."""
        collected: dict[Atom, list[sp.Expr]] = {}
        for form in forms:
            for atom, c in form.terms.items():
                collected.setdefault(atom, []).append(c)
        terms = {a: cs[0] if len(cs) == 1 else tidy(sp.Add(*cs)) for a, cs in collected.items()}
        return cls({a: c for a, c in terms.items() if c != 0})

    def __getitem__(self, atom: Atom) -> sp.Expr:
        return self.terms.get(atom, sp.Integer(0))

    def __add__(self, other: Form) -> Form:
        return Form.total((self, other))

    def __sub__(self, other: Form) -> Form:
        return Form.total((self, -1 * other))

    def __rmul__(self, factor: sp.Expr | int) -> Form:
        return Form({a: factor * c for a, c in self.terms.items()} if factor != 0 else {})

    def without(self, *atoms: Atom) -> Form:
        """Return the form with `atoms` left out."""
        return Form({a: c for a, c in self.terms.items() if a not in atoms})

    def __str__(self) -> str:
        return " + ".join(_shown(c, a) for a, c in self.terms.items()) or "0"


def _shown(coefficient: sp.Expr, atom: Atom) -> str:
    if atom == ONE:
        return str(coefficient)
    if coefficient == 1:
        return str(atom)
    named = f"({atom})" if " - " in str(atom) else str(atom)
    return f"({coefficient}) {named}" if coefficient.is_Add else f"{coefficient} {named}"


@cache
def tidy(coefficient: sp.Expr) -> sp.Expr:
    """Cancel a coefficient; roots and powers r**T are left alone."""
    return sp.cancel(sp.together(coefficient))


class Bound(sp.Dummy):  # type: ignore[misc]
    """A letter for a bound that was computed before; it prints as its name."""

    def _sympystr(self, printer: object) -> str:
        return str(self.name)


@cache
def shorter(coefficient: sp.Expr) -> sp.Expr:
    """Return a coefficient as it is, or factored: fewer minus signs, then fewer characters."""
    forms = (sp.factor(coefficient), coefficient)
    return min(forms, key=lambda form: (str(form).count("-"), len(str(form))))


@dataclass(frozen=True)
class Claim:
    """`form` >= 0, or `form` = 0 if `equality`."""

    form: Form
    equality: bool = False

    def __str__(self) -> str:
        minus = {a: -c for a, c in self.form.terms.items() if at_reference(c) < 0}
        plus = self.form.without(*minus)
        left, right = (
            Form({a: shorter(c) for a, c in side.items()}) for side in (minus, plus.terms)
        )
        return f"{left} {'=' if self.equality else '<='} {right}"


def inner(u: Vector, v: Vector) -> Form:
    """Return <u, v> as a form; products of a mean and a deviation vanish."""
    products = [
        Form({Inner(*sorted((a, b))): x * y})
        for a, x in u.terms.items()
        for b, y in v.terms.items()
        if a.part == b.part and x * y != 0
    ]
    return Form.total(products)
