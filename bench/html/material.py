"""What a bench left in a folder, read back and checked: the page is made of nothing else.

A file that is missing, broken or lacks a field is refused in one sentence that names it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from bench.html.machine import Facts, Machine
from bench.html.records import CellRecord, CurveRecord, Replay, Row, VerdictRecord, build
from mpiddl.errors import ConfigurationError

__all__ = ["Bench", "read"]

T = TypeVar("T")
FILES = ("machine.json", "table.json", "curves.json", "verdicts.json")


@dataclass(frozen=True)
class Bench:
    """Everything that a folder says about one bench."""

    machine: Machine
    rows: list[Row]
    curves: list[CurveRecord]
    verdicts: list[VerdictRecord]
    replays: list[Replay]
    cells: list[CellRecord] = field(default_factory=list)

    @property
    def problems(self) -> list[str]:
        """The problems in the order of the table."""
        return list(dict.fromkeys(row.problem for row in self.rows))

    def facts(self, problem: str) -> Facts:
        """Return what is known of `problem`."""
        return self.machine.run.problems.get(problem, Facts())


def read(folder: Path) -> Bench:
    """Return what the bench in `folder` wrote.

    Raises
    ------
    ConfigurationError
        If a file is missing, is not JSON, or lacks what the page needs.
    """
    machine, table, curves, verdicts = (_load(folder / name) for name in FILES)
    replays, cells = sorted((folder / "replays").glob("*.json")), folder / "cells.json"
    return Bench(
        build(Machine, machine, str(folder / "machine.json")),
        _all(Row, table, folder / "table.json"),
        _all(CurveRecord, curves, folder / "curves.json"),
        _all(VerdictRecord, verdicts, folder / "verdicts.json"),
        [build(Replay, _load(path), str(path)) for path in replays],
        _all(CellRecord, _load(cells), cells) if cells.exists() else [],
    )


def _load(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        remedy = f"write it with python -m mpiddl.bench --out {path.parent}"
        raise ConfigurationError(f"{path} is not there: {remedy}") from None
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise ConfigurationError(f"{path} is broken ({error}): run bench again") from None


def _all(kind: type[T], entries: Any, path: Path) -> list[T]:
    if not isinstance(entries, list):
        raise ConfigurationError(f"{path} is no JSON list: run bench again")
    return [build(kind, entry, f"{path}, entry {at}") for at, entry in enumerate(entries)]
