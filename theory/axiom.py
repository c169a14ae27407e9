"""What an axiom is: a named inequality between atoms that algebra cannot discharge.

The axioms themselves are in `theory.axioms`, by subject.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from theory.forms import Claim, Form
from theory.statement import Assumption, Status

__all__ = ["AXIOMS", "Axiom", "Terms", "axiom"]

Terms = Mapping[str, Form]


@dataclass(frozen=True)
class Axiom:
    """A named inequality (or equality) between atoms.

    Parameters
    ----------
    name : str
        Key in `AXIOMS`.
    text : str
        The statement in words.
    source : str
        Author and year, or why no source is needed.
    status : Status
        How sure it is.
    needs : frozenset of Assumption
        The hypotheses under which it holds.
    terms : callable
        Builds the terms of the claim, by label, from vectors, scalars and numbers.
    equality : bool
        Whether the sum of the terms is zero rather than non-negative.
    """

    name: str
    text: str
    source: str
    status: Status
    needs: frozenset[Assumption]
    terms: Callable[..., Terms]
    equality: bool = False

    def claim(self, *arguments: object) -> Claim:
        """Return the claim for `arguments`."""
        return Claim(Form.total(self.terms(*arguments).values()), self.equality)


AXIOMS: dict[str, Axiom] = {}


def axiom(
    status: Status, source: str, *needs: Assumption, equality: bool = False
) -> Callable[[Callable[..., Terms]], Axiom]:
    """Register the decorated function as an axiom; its docstring is the statement."""

    def keep(terms: Callable[..., Terms]) -> Axiom:
        name, text = terms.__name__, " ".join((terms.__doc__ or "").split())
        AXIOMS[name] = Axiom(name, text, source, status, frozenset(needs), terms, equality)
        return AXIOMS[name]

    return keep
