"""Claimed = computed: let the engine derive a bound and compare it with the stated one."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from theory.algebra import same
from theory.derivation import Refused
from theory.limits import objection
from theory.mutants import derived, run
from theory.mutants import mutants as all_mutants
from theory.positivity import Domain
from theory.statement import Step
from theory.theorem import Limit, Theorem
from theory.tuning import rates

__all__ = ["SymbolicReport", "check"]


@dataclass(frozen=True)
class SymbolicReport:
    """What the symbolic check of one theorem found.

    Parameters
    ----------
    name : str
        The theorem.
    derived : bool
        The engine computes the stated bound (and perturbation) in every case.
    steps : tuple of Step
        The derivation: claim, because, status.
    limits : tuple of (Limit, bool)
        Every limit, and whether it was proved.
    tuned, rate : bool or None
        The tuned value and its exponents were verified; None if the theorem has none.
    mutants, noticed : int
        Perturbed derivations and statements tried, and how many made the check fail.
    excluded : tuple of (str, str)
        Mutants that change nothing, with the reason.
    problems : tuple of str
        Why `ok` is False.
    """

    name: str
    derived: bool
    steps: tuple[Step, ...]
    limits: tuple[tuple[Limit, bool], ...]
    tuned: bool | None
    rate: bool | None
    mutants: int
    noticed: int
    excluded: tuple[tuple[str, str], ...]
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether everything that the theorem claims was verified."""
        return not self.problems


def check(theorem: Theorem, *, mutants: bool = True) -> SymbolicReport:
    """Verify `theorem` symbolically; with ``mutants=False`` skip the perturbed derivations."""
    problems: list[str] = []
    steps = _steps(theorem, problems)
    equal = all(derived(theorem, case) for case in theorem.cases)
    if not equal:
        problems.append("the computed bound is not the stated one")
    problems += _uncovered(theorem)
    limits = tuple((limit, _limit(theorem, limit, problems)) for limit in theorem.limits)
    tuned, rate = _tuned(theorem, problems)
    tried = list(all_mutants(theorem)) if mutants and equal else []
    excluded = dict(theorem.equivalent)
    survivors = [x.name for x in tried if not x.noticed]
    problems += [f"mutant not noticed: {x}" for x in survivors if x not in excluded]
    if tried:
        problems += [f"excluded, yet noticed: {x}" for x in excluded if x not in survivors]
    return SymbolicReport(
        name=theorem.name,
        derived=equal,
        steps=tuple(steps),
        limits=limits,
        tuned=tuned,
        rate=rate,
        mutants=len(tried) - len(excluded) if tried else 0,
        noticed=sum(x.noticed for x in tried),
        excluded=tuple(excluded.items()),
        problems=tuple(problems),
    )


def _steps(theorem: Theorem, problems: list[str]) -> list[Step]:
    """Return the steps of all cases; their hypotheses must be those of the theorem."""
    steps: list[Step] = []
    for case in theorem.cases:
        try:
            proof, _ = run(theorem, case)
        except Refused as refusal:
            problems.append(f"{case.name or 'derivation'} refused: {refusal}")
            continue
        steps += proof.steps
        odd = sorted(x.name for x in proof.used ^ theorem.assumes)
        if odd:
            problems.append(f"used but not assumed, or assumed but not used: {', '.join(odd)}")
    return steps


def _limit(theorem: Theorem, limit: Limit, problems: list[str]) -> bool:
    why = objection(theorem, limit)
    if why:
        problems.append(f"limit {limit.to}: {why}")
    return not why


def _uncovered(theorem: Theorem) -> list[str]:
    """Return what is wrong with the cases: gaps between them, or letters resolved wrongly."""
    problems = []
    if sp.Or(*(sp.And(*case.conditions) for case in theorem.cases)) != sp.true:
        problems.append("the cases do not cover the domain")
    for case in theorem.cases:
        domain = Domain((*theorem.conditions, *case.conditions))
        for letter, value in case.where.items():
            if not same(domain.resolve(theorem.where[letter]), value):
                problems.append(f"{letter} is not {value} where {case.name}")
    return problems


def _tuned(theorem: Theorem, problems: list[str]) -> tuple[bool | None, bool | None]:
    """Compute the tuned step, its value and the exponents; compare with the stated ones."""
    tuned = theorem.tuned
    if tuned is None:
        return None, None
    try:
        step, value = tuned.compute(theorem)
    except Refused as refusal:
        problems.append(f"tuning refused: {refusal}")
        return False, False
    good = same(value, tuned.value) and _same_step(step, tuned.step)
    if not good:
        problems.append(f"tuned: computed {value} at gam = {step}")
    found = rates(tuned)
    rate = found == (tuned.rate_T, tuned.rate_n)
    if not rate:
        problems.append(f"rates: computed {found}")
    return good, rate


def _same_step(computed: sp.Expr, stated: sp.Expr) -> bool:
    """Compare step sizes; a minimum is compared argument by argument, in any order."""
    if not isinstance(computed, sp.Min):
        return same(computed, stated)
    left, right = list(computed.args), list(sp.Min.make_args(stated))
    return len(left) == len(right) and all(any(same(x, y) for y in right) for x in left)
