"""The files of a bench as records, and how JSON becomes one of them.

A record's fields are those that the page needs; one that has a default may be missing or null.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cached_property
from types import UnionType
from typing import Any, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from mpiddl.arrays import Array
from mpiddl.errors import ConfigurationError

__all__ = ["CurveRecord", "Line", "Replay", "Row", "Series", "VerdictRecord", "build"]

T = TypeVar("T")
Numbers: TypeAlias = list[float | None]


@dataclass(frozen=True)
class Row:
    """A variant at its best step size on one problem; see `bench.report` for the fields."""

    problem: str
    name: str
    variant: str
    when: str
    with_whom: str
    words: str
    n: int
    clocks: int
    gap: float | None = None
    gap_low: float | None = None
    gap_high: float | None = None
    step_size: float | None = None
    edge: bool = False
    servers: int = 0
    accuracy: float | None = None
    bytes_per_clock: float | None = None
    bytes_formula: float | None = None
    total_bytes: float | None = None
    messages: float | None = None
    wall_seconds: float | None = None
    virtual_seconds: float | None = None
    target: float | None = None
    seconds_to_target: float | None = None
    bytes_to_target: float | None = None
    staleness: Mapping[str, Any] | None = None
    same: bool | None = None
    best: bool = False


@dataclass(frozen=True)
class CurveRecord:
    """What one run looked like from afar; lists of one length, None where a number is missing."""

    variant: str
    name: str
    problem: str
    seed: int
    world: str
    chosen: bool
    clock: Numbers
    bytes: Numbers
    seconds: Numbers
    loss: Numbers
    step_size: float | None = None
    diverged: bool = False


@dataclass(frozen=True)
class Line:
    """A line of a picture: y over x, with an interval or without."""

    label: str
    x: Numbers
    y: Numbers
    low: Numbers | None = None
    high: Numbers | None = None
    kind: str = "measured"


@dataclass(frozen=True)
class Series:
    """A picture that belongs to a claim."""

    title: str
    x_label: str
    y_label: str
    lines: list[Any]
    log_x: bool = False
    log_y: bool = False

    @cached_property
    def all_lines(self) -> list[Line]:
        """The lines, read."""
        return [build(Line, line, f"{self.title!r}, line") for line in self.lines]


@dataclass(frozen=True)
class VerdictRecord:
    """A judged claim, and the pictures that show it."""

    claim: str
    theorem: str
    outcome: str
    reason: str
    predicted: float | None = None
    measured: float | None = None
    low: float | None = None
    high: float | None = None
    relation: str = "="
    series: list[Any] = field(default_factory=list)

    @cached_property
    def all_series(self) -> list[Series]:
        """The pictures, read."""
        return [build(Series, one, f"claim {self.claim!r}, series") for one in self.series]


@dataclass(frozen=True)
class Replay:
    """Who was served when in an asynchronous run."""

    variant: str
    problem: str
    services: Mapping[str, Any]

    def column(self, name: str) -> Array:
        """Return a column of the services, what the server never answered (-1) left out."""
        values = np.array(self.services.get(name, []), dtype=np.float64)
        return values[np.isfinite(values) & (values >= 0)]


def build(kind: type[T], entry: Any, where: str) -> T:
    """Return a `kind`, a dataclass, from the JSON object `entry`; what it does not know is left.

    Raises
    ------
    ConfigurationError
        If a field is missing, of another type, or a column of another length than the others;
        `where` says in which file.
    """
    if not isinstance(entry, Mapping):
        raise ConfigurationError(f"{where} is no JSON object: run bench again")
    hints, given = get_type_hints(kind), {}
    for part in fields(kind):  # type: ignore[arg-type]
        value = entry.get(part.name)
        if value is not None:
            given[part.name] = value
        elif _required(part):
            raise ConfigurationError(f"{where} has no {part.name!r}: run bench again")
        if value is not None and not _fits(value, hints[part.name]):
            shown = f"{part.name!r} = {value!r}"[:60]
            raise ConfigurationError(f"{where} has {shown}, not {part.type}: run bench again")
    columns = [
        key for key, value in given.items() if Numbers in (hints[key], *get_args(hints[key]))
    ]
    if len({len(given[key]) for key in columns}) > 1:
        raise ConfigurationError(f"{where}: {', '.join(columns)} differ in length: run bench again")
    return kind(**given)


def _required(part: Field[Any]) -> bool:
    return part.default is MISSING and part.default_factory is MISSING


def _fits(value: Any, hint: Any) -> bool:
    if hint is Any:
        return True
    if isinstance(hint, UnionType):
        return any(_fits(value, one) for one in get_args(hint))
    if get_origin(hint) is list:
        return isinstance(value, list) and all(_fits(one, get_args(hint)[0]) for one in value)
    if isinstance(value, bool):
        return hint is bool
    return isinstance(value, (int, float) if hint is float else get_origin(hint) or hint)
