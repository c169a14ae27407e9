"""A theorem as data: what is bounded, by what, when, how it is derived, what it becomes at a limit.

One family of theorems is one file of `theory.catalogue`. The stated bound is typed in the letters
of `theory.symbols`; `derive` lets the engine of `theory.derivation` compute it from named axioms,
and `theory.check.check` compares the two. The words are in `theory.statement`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import sympy as sp

from theory.evaluation import Evaluated, Precise, slackened
from theory.statement import Assumption, Kind, Measure, Source
from theory.symbols import RANGE

if TYPE_CHECKING:
    from theory.derivation import Proof

__all__ = ["Case", "Kind", "Limit", "Measure", "Source", "Theorem", "Tuned"]


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
        The bound at this step is at most `value`.
    rate_T, rate_n : Rational
        Exponents of T and n for large T, logarithms left aside.
    compute : callable
        Returns step and value, computed from the bound, to be compared with the stated ones.
    assuming : tuple of Relational
        When the step may be taken, if not always.
    """

    step: sp.Expr
    value: sp.Expr
    rate_T: sp.Rational
    rate_n: sp.Rational
    compute: Callable[[Theorem], tuple[sp.Expr, sp.Expr]]
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
        The algorithm in words.
    assumes : frozenset of Assumption
        The hypotheses; the derivation uses these and no others.
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
    equivalent : Mapping
        Mutants of the proof that rightly change nothing, with the reason.
    """

    name: str
    source: Source
    measure: Measure
    statement: str
    assumes: frozenset[Assumption]
    conditions: tuple[sp.Rel, ...]
    bound: sp.Expr
    derive: Callable[[Proof], sp.Expr]
    where: Mapping[sp.Symbol, sp.Expr] = field(default_factory=dict)
    perturbation: sp.Expr | None = None
    tuned: Tuned | None = None
    limits: tuple[Limit, ...] = ()
    cases: tuple[Case, ...] = (Case(),)
    attained: bool = False
    equivalent: Mapping[str, str] = field(default_factory=dict)

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

    def _refuse_or(self, function: Evaluated, values: Mapping[str, float]) -> float:
        violated = self.holds(**values)
        if violated:
            raise ValueError(f"{self.name} does not apply: {'; '.join(violated)} is violated")
        return float(function(values))

    @cached_property
    def _bound(self) -> Precise:
        return Precise(self.name, self.written(self.bound))

    @cached_property
    def _perturbation(self) -> Precise:
        written = self.written(self.perturbation or sp.Integer(0))
        return Precise(self.name, written)

    @cached_property
    def _tests(self) -> list[tuple[sp.Rel, Evaluated]]:
        return [(c, Evaluated(self.name, slackened(c))) for c in self.requirements]
