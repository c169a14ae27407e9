"""Claimed = computed: let the engine derive a theorem's bound and compare it with the stated one."""

from __future__ import annotations

from dataclasses import dataclass

from theory.theorem import Limit, Step, Theorem

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
        Perturbed derivations and formulas tried, and how many made the check fail.
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
    raise NotImplementedError
