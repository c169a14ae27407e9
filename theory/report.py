"""All checks of a theorem together, as a verdict, a table row and a JSON object.

A theorem holds if its derivation, its runs, its slopes and its worst case are as they must be,
and if every negative control fails where it must: a control that passes is a failure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from theory.catalogue import THEOREMS
from theory.check import SymbolicReport, check
from theory.moments import linear
from theory.recursions import simulate
from theory.slopes import Slope, slopes
from theory.stages import Stage, evaluate
from theory.trials import TRIALS, Trial
from theory.worst_cases import ROUNDING, WorstCase, exact_ratios, worst_case

__all__ = ["Report", "Tried", "as_json", "table", "try_out", "verify"]


@dataclass(frozen=True)
class Tried:
    """A trial and what its stages said.

    Parameters
    ----------
    trial : Trial
        What was claimed, and what was broken.
    stages : tuple of Stage
        Measured on its runs.
    exact : float or None
        Largest exact measured / bound over T; None for controls and recursions that are not linear.
    """

    trial: Trial
    stages: tuple[Stage, ...]
    exact: float | None

    @property
    def ok(self) -> bool:
        """Whether the run kept every stage, or the control failed where it must."""
        exact = self.exact is None or self.exact <= 1 + ROUNDING
        return exact and self.trial.as_promised(self.stages)

    @property
    def problem(self) -> str:
        """What is wrong if `ok` is False."""
        if self.trial.control is not None:
            return f"not noticed at {self.trial.control.fails}: {self.trial.control.what}"
        broken = ", ".join(stage.name for stage in self.stages if not stage.ok)
        return f"{self.trial.problem}: {broken or 'exact moments'} broken"


@dataclass(frozen=True)
class Report:
    """Everything that was checked of one theorem; slopes are None if they were skipped."""

    name: str
    symbolic: SymbolicReport
    runs: tuple[Tried, ...]
    controls: tuple[Tried, ...]
    slopes: tuple[Slope, ...] | None
    worst: WorstCase | None

    @property
    def problems(self) -> tuple[str, ...]:
        """What is not as it must be, in words."""
        found = list(self.symbolic.problems)
        found += ["never tried"] * (not self.runs) + ["no negative control"] * (not self.controls)
        found += [tried.problem for tried in (*self.runs, *self.controls) if not tried.ok]
        found += [f"slope in {slope}" for slope in self.slopes or () if not slope.ok]
        if self.worst is not None and not self.worst.ok:
            found.append(f"worst case reaches {self.worst.ratio:.6g} of the bound")
        if (self.worst is not None) != THEOREMS[self.name].attained:
            found.append("attained and worst case disagree")
        return tuple(found)

    @property
    def ok(self) -> bool:
        """Whether everything is as it must be."""
        return not self.problems


def try_out(trial: Trial) -> Tried:
    """Run a trial's recursion and check its stages against its claim."""
    stages = evaluate(trial.theorem, simulate(trial), trial.oracle(), trial.values())
    exact = None
    if trial.control is None and linear(trial):
        exact = float(exact_ratios(trial).max())
    return Tried(trial, stages, exact)


def verify(names: Iterable[str], quick: bool = False) -> Iterator[Report]:
    """Check theorems one by one; quick leaves out mutants and slopes.

    Raises
    ------
    KeyError
        If a theorem is unknown.
    """
    for name in names:
        tried = [try_out(trial) for trial in TRIALS if trial.theorem == name]
        yield Report(
            name,
            check(THEOREMS[name], mutants=not quick),
            tuple(one for one in tried if one.trial.control is None),
            tuple(one for one in tried if one.trial.control is not None),
            None if quick else slopes(name),
            worst_case(name),
        )


def table(reports: Iterable[Report]) -> Table:
    """Return one row per theorem: what was checked, the numbers that matter, the verdict.

    Derivation: mutants noticed (or steps, if none were tried); stages: kept, of all runs; slopes:
    in T and in n; attained: exact measured / bound in the worst case; controls: caught.
    """
    heads = ("theorem", "derivation", "stages", "slopes", "attained", "controls", "verdict")
    drawn = Table(*heads, box=SIMPLE_HEAD, padding=0, show_edge=False)
    for report in reports:
        verdict = Text("holds", "green") if report.ok else Text("FAILS", "bold red")
        drawn.add_row(report.name, *_cells(report), verdict)
    return drawn


def _cells(report: Report) -> list[str]:
    symbolic = report.symbolic
    noticed = f"{symbolic.noticed}/{symbolic.mutants}"
    derivation = noticed if symbolic.mutants else f"{len(symbolic.steps)} steps"
    stages = [stage for tried in report.runs for stage in tried.stages]
    slopes = (f"{slope.measured.value:.2f}" for slope in report.slopes or ())
    return [
        derivation if symbolic.derived else "fails",
        f"{sum(stage.ok for stage in stages)}/{len(stages)}",
        " ".join(slopes) or "-",
        f"{report.worst.ratio:.4f}" if report.worst else "-",
        f"{sum(tried.ok for tried in report.controls)}/{len(report.controls)}",
    ]


def as_json(report: Report) -> dict[str, Any]:
    """Return the report as JSON types; numbers that are not finite become text."""
    plain = asdict(report) | {"ok": report.ok, "problems": report.problems}
    plain["bound"] = str(THEOREMS[report.name].bound)
    for kind in ("runs", "controls"):
        for one, tried in zip(plain[kind], getattr(report, kind), strict=True):
            one["ok"] = tried.ok
            for shown, stage in zip(one["stages"], tried.stages, strict=True):
                shown["ok"] = stage.ok
    cleaned: dict[str, Any] = _plain(plain)
    return cleaned


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return value if isinstance(value, (bool, int, str, type(None))) else str(value)
