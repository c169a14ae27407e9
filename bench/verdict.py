"""What becomes of a claim: a predicted and a measured number, an interval, an outcome, a reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from enum import Enum
from math import isnan, nan
from typing import Any

from bench.series import Series

__all__ = ["Outcome", "Relation", "Subject", "Verdict", "undecided", "written"]


class Outcome(Enum):
    """What became of a claim."""

    HOLDS = "HOLDS"
    FAILS = "FAILS"
    UNDECIDED = "UNDECIDED"


class Relation(Enum):
    """What is predicted of the measured number."""

    EQUAL = "="
    AT_MOST = "<="
    SLOPE = "slope"


@dataclass(frozen=True)
class Subject:
    """What is judged: a sentence that can be doubted, and the theorem or formula behind it."""

    claim: str
    theorem: str


@dataclass(frozen=True)
class Verdict:
    """A judged claim: predicted and measured number, interval [low, high], outcome, reason.

    `relation` is what the measured number should be to the predicted one, `series` are pictures,
    `name` is the one under which the claim is registered.
    """

    claim: str
    theorem: str
    predicted: float
    measured: float
    low: float
    high: float
    outcome: Outcome
    reason: str
    relation: Relation = Relation.EQUAL
    series: tuple[Series, ...] = ()
    name: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the fields by name, ready for JSON."""
        words = {"outcome": self.outcome.value, "relation": self.relation.value}
        return asdict(self) | words

    def drawn(self, *series: Series) -> Verdict:
        """Return the verdict with pictures."""
        return replace(self, series=series)


def written(verdict: Verdict, number: Callable[[float], str]) -> str:
    """Return the prediction as it is printed: ``1,024``, ``<= 1``, ``slope -0.5``."""
    text = number(verdict.predicted)
    if verdict.relation is Relation.EQUAL or isnan(verdict.predicted):
        return text
    return f"{verdict.relation.value} {text}"


def undecided(subject: Subject, reason: str, predicted: float = nan) -> Verdict:
    """Return the verdict that nothing can be said, and why."""
    return Verdict(
        subject.claim, subject.theorem, predicted, nan, nan, nan, Outcome.UNDECIDED, reason
    )
