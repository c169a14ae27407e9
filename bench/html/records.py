"""The files of a bench as records, and how JSON becomes one of them.

A record's fields are those that the page needs; one that has a default may be missing or null.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from mpiddl.arrays import Array
from mpiddl.errors import ConfigurationError

__all__ = ["CurveRecord", "Line", "Numbers", "Replay", "Row", "Series", "VerdictRecord", "build"]

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
    staleness: Mapping[str, float] | None = None
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
    lines: list[Line]
    log_x: bool = False
    log_y: bool = False


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
    series: list[Series] = field(default_factory=list)


@dataclass(frozen=True)
class CellCurve:
    """The mean curve of an algorithm in virtual time; lists of one length."""

    seconds: Numbers
    bytes: Numbers
    loss: Numbers


@dataclass(frozen=True)
class CellRecord:
    """One algorithm of one of the twelve cells."""

    synchronization: str
    architecture: str
    algorithm: str
    outcome: str
    setting: str
    curve: CellCurve
    seconds_to_target: float | None = None
    bytes_to_target: float | None = None
    final_loss: float | None = None
    f_star: float | None = None
    best_of_cell: bool = False


@dataclass(frozen=True)
class Replay:
    """Who was served when in an asynchronous run."""

    variant: str
    problem: str
    services: Mapping[str, Numbers]

    def column(self, name: str) -> Array:
        """Return a column of the services, what the server never answered (-1) left out."""
        values = np.array(self.services.get(name, []), dtype=np.float64)
        return values[np.isfinite(values) & (values >= 0)]


def build(kind: type[T], entry: Any, where: str) -> T:
    """Return a `kind`, a dataclass, from the JSON object `entry`; what it does not know is left.

    Fields may be numbers, texts, records, or lists and mappings of these.

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
            given[part.name] = _made(value, hints[part.name], f"{where}, {part.name!r}")
        elif part.default is MISSING and part.default_factory is MISSING:
            raise ConfigurationError(f"{where} has no {part.name!r}: run bench again")
    columns = [name for name in given if Numbers in (hints[name], *get_args(hints[name]))]
    if len({len(given[name]) for name in columns}) > 1:
        raise ConfigurationError(f"{where}: {', '.join(columns)} differ in length: run bench again")
    return kind(**given)


def _made(value: Any, hint: Any, where: str) -> Any:
    """Return `value` as `hint` says it must be."""
    if hint is Any:
        return value
    if isinstance(hint, UnionType):  # something, or None
        something = next(one for one in get_args(hint) if one is not NoneType)
        return None if value is None else _made(value, something, where)
    if is_dataclass(hint):
        return build(hint, value, where)  # type: ignore[arg-type]
    kind, inner = get_origin(hint) or hint, get_args(hint)
    fits: Any = (int, float) if kind is float else kind
    if not isinstance(value, fits) or (isinstance(value, bool) and kind is not bool):
        shown = repr(value)[:40]
        raise ConfigurationError(f"{where} is {shown}, not {kind.__name__}: run bench again")
    if kind is list:
        return [_made(one, inner[0], where) for one in value]
    if kind is Mapping:
        return {name: _made(one, inner[1], f"{where}, {name!r}") for name, one in value.items()}
    return value
