"""Does the check notice mistakes? Change one thing at a time and see.

Mutants of the proof: a coefficient of an axiom instance or of a one-step inequality is doubled,
dropped or negated, or a move is left out; then the engine must refuse or compute another bound.
Mutants of the statement: a term of the typed bound is doubled, dropped or negated, or a step
condition is made twice as wide; then the computed bound must differ, or the engine must refuse.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import sympy as sp

from theory.algebra import same
from theory.derivation import Mutation, Proof, Refused
from theory.positivity import Domain
from theory.theorem import Case, Theorem

__all__ = ["Mutant", "derived", "mutants", "run", "statement_mutants"]


@dataclass(frozen=True)
class Mutant:
    """A changed proof or statement, and whether the check noticed."""

    name: str
    noticed: bool


def run(
    theorem: Theorem, case: Case, mutation: Mutation | None = None, domain: Domain | None = None
) -> tuple[Proof, sp.Expr]:
    """Derive `theorem` in `case`; return the proof and the computed bound.

    Raises
    ------
    Refused
        If a move does not apply.
    """
    proof = Proof(domain or Domain((*theorem.conditions, *case.conditions)), mutation)
    return proof, theorem.derive(proof)


def _stated(theorem: Theorem, case: Case, expression: sp.Expr) -> sp.Expr:
    return theorem.written(expression.subs(dict(case.where)))


def derived(
    theorem: Theorem,
    case: Case,
    mutation: Mutation | None = None,
    domain: Domain | None = None,
) -> bool:
    """Return whether the engine, with `mutation`, computes what is stated."""
    try:
        proof, bound = run(theorem, case, mutation, domain)
    except Refused:
        return False
    if (proof.perturbation is None) != (theorem.perturbation is None):
        return False
    if not same(bound, _stated(theorem, case, theorem.bound)):
        return False
    if theorem.perturbation is None or proof.perturbation is None:
        return True
    return same(proof.perturbation, _stated(theorem, case, theorem.perturbation))


def mutants(theorem: Theorem) -> Iterator[Mutant]:
    """Try every mutant of the proofs, the conditions and the bound of `theorem`."""
    for case in theorem.cases:
        domain = Domain((*theorem.conditions, *case.conditions))
        proof, computed = run(theorem, case, domain=domain)
        prefix = f"[{case.name}] " if case.name else ""
        for site, kinds in proof.sites.items():
            for kind in kinds:
                mutation = Mutation(site, kind)
                noticed = not derived(theorem, case, mutation, domain)
                yield Mutant(f"{prefix}{mutation}", noticed)
        for text, bound in statement_mutants(theorem.bound):
            noticed = not same(computed, _stated(theorem, case, bound))
            yield Mutant(f"{prefix}bound: {text}", noticed)
    yield from _wider(theorem)


def _wider(theorem: Theorem) -> Iterator[Mutant]:
    """Try every step condition with twice the room."""
    for condition in theorem.conditions:
        if isinstance(condition, sp.Eq):
            continue
        wide = (
            condition.func(condition.lts, 2 * condition.gts)
            if isinstance(condition, (sp.Le, sp.Lt))
            else condition.func(condition.gts, condition.lts / 2)
        )
        others = [c for c in theorem.conditions if c != condition]
        noticed = any(
            not derived(theorem, case, domain=Domain((*others, wide, *case.conditions)))
            for case in theorem.cases
        )
        yield Mutant(f"condition: {wide}", noticed)


def statement_mutants(bound: sp.Expr) -> Iterator[tuple[str, sp.Expr]]:
    """Yield `bound` with one term of one of its sums, or the whole, changed."""
    for factor, kind in ((2, "doubled"), (-1, "negated")):
        yield f"all {kind}", factor * bound
    yield from _changed(bound)


def _changed(expression: sp.Expr) -> Iterator[tuple[str, sp.Expr]]:
    """Yield copies of `expression`, each with one argument of one Add changed."""
    rebuild = expression.func
    for i, part in enumerate(expression.args):
        rest = expression.args
        if not isinstance(part, sp.Expr):
            continue
        if isinstance(expression, sp.Add):
            for kind, factor in Mutation.FACTORS.items():
                yield f"{part} {kind}", rebuild(*rest[:i], factor * part, *rest[i + 1 :])
        for text, inside in _changed(part):
            yield text, rebuild(*rest[:i], inside, *rest[i + 1 :])
