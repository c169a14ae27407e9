"""A theorem as data: what is bounded, by what, when, how it is derived, what it becomes at a limit.

One family of theorems is one file of `theory.catalogue`. The stated bound is typed in the letters
of `theory.symbols`; `derive` lets the engine of `theory.derivation` compute it from named axioms,
and `theory.check.check` compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import sympy as sp

from theory.symbols import RANGE

if TYPE_CHECKING:
    from theory.derivation import Proof

__all__ = ["Case", "Kind", "Limit", "Measure", "Source", "Status", "Step", "Theorem", "Tuned"]


class Status(Enum):
    """How sure a step is."""

    PROVED = "proved"  # closed by the engine
    SAMPLED = "sampled"  # a textbook fact; random instances agree and its perturbations do not
    ASSUMED = "assumed"  # a hypothesis of the theorem


@dataclass(frozen=True)
class Step:
    """One line of a derivation: what holds, because of what, how sure."""

    claim: str
    because: str
    status: Status


@dataclass(frozen=True)
class Source:
    """Where a statement comes from; `reference` is an arXiv number or a remark."""

    authors: str
    year: int
    title: str
    reference: str = ""


class Measure(Enum):
    """What a bound is about; v is the mean or virtual model, x the model that workers hold."""

    GRADSQ = "(1/T) sum_{t<T} E||grad f(v_t)||^2"
    GRADSQ_X = "(1/T) sum_{t<T} E||grad f(x_t)||^2"
    GAP = "(1/T) sum_{t<T} E f(v_t) - f*"
    DIST = "E||v_T - x*||^2"
    CONSENSUS = "||X_T - J X_0||_F"

    @property
    def quantity(self) -> str:
        """The quantity without the place: where v = x, GRADSQ and GRADSQ_X agree."""
        return self.name.removesuffix("_X")


class Kind(Enum):
    """How a theorem meets another at a limit."""

    EQUALS = "equals"  # the same formula
    IMPLIED_BY = "implied by"  # the other bound is smaller: the sign of the difference is proved


@dataclass(frozen=True)
class Limit:
    """At `substitution` this theorem equals, or is implied by, the theorem called `to`.

    Parameters
    ----------
    to : str
        Name in the catalogue.
    substitution : Mapping
        What the letters of this theorem become.
    kind : Kind
        EQUALS or IMPLIED_BY.
    assuming : tuple of Relational
        What else is assumed at the limit.
    target : Mapping, optional
        What the letters of the other theorem become; `substitution` by default.
    """

    to: str
    substitution: Mapping[sp.Symbol, sp.Expr]
    kind: Kind = Kind.EQUALS
    assuming: tuple[sp.Rel, ...] = ()
    target: Mapping[sp.Symbol, sp.Expr] | None = None


@dataclass(frozen=True)
class Tuned:
    """The step size that a user should take, and what the bound is worth there.

    Parameters
    ----------
    step : Expr
        The step size.
    value : Expr
        The bound at this step is at most `value`; `value` is computed and compared.
    rate_T, rate_n : Rational
        Exponents of T and n in the leading term for large T.
    verify : callable
        Returns the computed value, or raises `theory.derivation.Refused`.
    assuming : tuple of Relational
        Where the tuned value is claimed.
    """

    step: sp.Expr
    value: sp.Expr
    rate_T: sp.Rational
    rate_n: sp.Rational
    verify: Callable[[Theorem], sp.Expr]
    assuming: tuple[sp.Rel, ...] = ()


@dataclass(frozen=True)
class Case:
    """A part of the domain on which a letter of `where` has a closed form."""

    name: str = ""
    conditions: tuple[sp.Rel, ...] = ()
    where: Mapping[sp.Symbol, sp.Expr] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Theorem:
    """A bound with its conditions, derivation and limits.

    Parameters
    ----------
    name : str
        Key in the catalogue.
    source : Source
        Where the statement comes from.
    measure : Measure
        What is bounded.
    statement : str
        Algorithm and hypotheses in words.
    conditions : tuple of Relational
        What must hold besides the ranges of `theory.symbols.RANGE`.
    bound : Expr
        The stated bound.
    derive : callable
        Lets the engine compute the bound, and the perturbation if there is one.
    where : Mapping
        Letters of `bound` that abbreviate other letters.
    perturbation : Expr, optional
        Bound on P = (1/T) sum_t (1/n) sum_i E||y_i^t - v_t||^2.
    tuned : Tuned, optional
        The recommended step.
    limits : tuple of Limit
        Other theorems met on the way.
    cases : tuple of Case
        The derivation is run once per case; together they cover the domain.
    attained : bool
        Whether some problem meets the bound with equality.
    """

    name: str
    source: Source
    measure: Measure
    statement: str
    conditions: tuple[sp.Rel, ...]
    bound: sp.Expr
    derive: Callable[[Proof], sp.Expr]
    where: Mapping[sp.Symbol, sp.Expr] = field(default_factory=dict)
    perturbation: sp.Expr | None = None
    tuned: Tuned | None = None
    limits: tuple[Limit, ...] = ()
    cases: tuple[Case, ...] = (Case(),)
    attained: bool = False

    @cached_property
    def requirements(self) -> tuple[sp.Rel, ...]:
        """Conditions of the theorem and ranges of its letters."""
        parts = [self.bound, *self.conditions, *self.where.values()]
        letters = set().union(*(part.free_symbols for part in parts)) - set(self.where)
        ranges = [fact for x in sorted(letters, key=str) for fact in RANGE.get(str(x), ())]
        return tuple(dict.fromkeys((*self.conditions, *ranges)))

    def written(self, expression: sp.Expr) -> sp.Expr:
        """Return `expression` with the abbreviations of `where` written out."""
        return expression.subs(dict(self.where), simultaneous=True)

    def at(self, **values: float) -> float:
        """Return the bound at `values`, given by the letters' names; other names are ignored.

        Raises
        ------
        ValueError
            If a letter is missing or a condition is violated; the message names it.
        """
        return self._refuse_or(self._bound, values)

    def perturbation_at(self, **values: float) -> float:
        """Return the bound on the perturbation P at `values`; 0 where the theorem has none.

        Raises
        ------
        ValueError
            As `at`.
        """
        return self._refuse_or(self._perturbation, values)

    def holds(self, **values: float) -> list[str]:
        """Return the violated conditions, as text; empty if the bound may be quoted.

        Raises
        ------
        ValueError
            If a letter is missing.
        """
        return [str(c) for c, test in self._tests if not test(values)]

    def _refuse_or(self, function: _Evaluated, values: Mapping[str, float]) -> float:
        violated = self.holds(**values)
        if violated:
            raise ValueError(f"{self.name} does not apply: {'; '.join(violated)} is violated")
        return float(function(values))

    @cached_property
    def _bound(self) -> _Evaluated:
        return _Evaluated(self.name, self.written(self.bound))

    @cached_property
    def _perturbation(self) -> _Evaluated:
        written = self.written(self.perturbation or sp.Integer(0))
        return _Evaluated(self.name, written)

    @cached_property
    def _tests(self) -> list[tuple[sp.Rel, _Evaluated]]:
        return [(c, _Evaluated(self.name, _slackened(c))) for c in self.requirements]


def _slackened(condition: sp.Rel) -> sp.Rel:
    """Allow rounding on weak inequalities: gam = 1/L must pass gam L <= 1."""
    left, right = condition.lhs, condition.rhs
    room = sp.Float(1e-12) * (1 + sp.Abs(left) + sp.Abs(right))
    if isinstance(condition, sp.Le):
        return sp.Le(left, right + room, evaluate=False)
    if isinstance(condition, sp.Ge):
        return sp.Ge(left + room, right, evaluate=False)
    return condition


class _Evaluated:
    """An expression compiled for NumPy, called with a mapping of letters to numbers."""

    def __init__(self, name: str, expression: sp.Basic) -> None:
        self.name = name
        self.letters = sorted(str(x) for x in expression.free_symbols)
        self.function: Callable[..., Any] = sp.lambdify(self.letters, expression, "numpy")

    def __call__(self, values: Mapping[str, float]) -> Any:
        missing = [x for x in self.letters if x not in values]
        if missing:
            raise ValueError(f"{self.name} needs values for: {', '.join(missing)}")
        return self.function(*(values[x] for x in self.letters))
