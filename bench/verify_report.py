"""The table of theorems: what was derived, what recursions did, what ranks did, what must break.

Rank 0 alone imports this. Of the stages it shows the largest lower confidence limit of measured /
promised, which is at most 1 where all is well; of the controls, how many failed where they must.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf, isnan, nan
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench.files import write
from bench.tables import plain_table
from theory.catalogue import THEOREMS
from theory.report import Tried

__all__ = ["report"]

NAME = "theory-report.json"
LEGEND = """
mutants: proofs and formulas with one coefficient or move changed, all of which must be noticed
stages: what the proof is made of (noise, descent, smoothness, perturbation ..), measured; shown is
the largest lower confidence limit of measured / promised, at most 1, and under MPI at which stage
slopes: exponents in T and n, measured at the tuned step; caught: runs broken on purpose, noticed
"""


@dataclass(frozen=True)
class Entry:
    """One theorem: what the theory wrote of it, or nothing, and what was run under MPI."""

    name: str
    theory: Mapping[str, Any] | None
    tried: Sequence[Tried]

    @property
    def problems(self) -> list[str]:
        """What is not as it must be, in words."""
        found = ["the theory's file does not speak of it"] if self.theory is None else []
        found += [f"theory: {what}" for what in (self.theory or {}).get("problems", ())]
        found += [f"MPI: {one.problem}" for one in self.tried if not one.ok]
        if all(one.trial.control for one in self.tried):
            found.append("MPI: never tried")
        return found

    def split(self) -> tuple[list[Tried], list[Tried]]:
        """Return runs and controls under MPI."""
        runs = [one for one in self.tried if one.trial.control is None]
        return runs, [one for one in self.tried if one.trial.control is not None]

    def as_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        runs, controls = self.split()
        return {
            "name": self.name,
            "ok": not self.problems,
            "problems": self.problems,
            "theory": self.theory,
            "mpi": {
                "runs": [_tried(one) for one in runs],
                "controls": [_tried(one) for one in controls],
            },
        }


def _tried(one: Tried) -> dict[str, Any]:
    stages = [asdict(stage) | {"ok": stage.ok} for stage in one.stages]
    return {"trial": asdict(one.trial), "stages": stages, "ok": one.ok}


def report(
    console: Console,
    out: Path | None,
    machine: Mapping[str, Any],
    theory: Sequence[Mapping[str, Any]],
    tried: Sequence[Tried],
) -> int:
    """Print the table, write the report to the folder `out`, return the exit code."""
    told = {entry["name"]: entry for entry in theory}
    entries = [
        Entry(name, told.get(name), [one for one in tried if one.trial.theorem == name])
        for name in THEOREMS
    ]
    console.print()
    console.print(table(entries))
    console.print(LEGEND, markup=False, highlight=False)
    for entry in entries:
        for problem in entry.problems:
            console.print(f"{entry.name}: {problem}", markup=False)
    if out is None:
        console.print(f"nothing was written; --out DIR writes {NAME}", markup=False)
    else:
        content = {"machine": machine, "theorems": [entry.as_dict() for entry in entries]}
        write(out / NAME, content)
        console.print(f"written to {out / NAME}", markup=False)
    return int(any(entry.problems for entry in entries))


def table(entries: Sequence[Entry]) -> Table:
    """Return one row per theorem."""
    drawn = plain_table(
        "\ntheorem",
        "proof\nsteps",
        "mutants\nnoticed",
        "stages\ntheory",
        "stages\nMPI",
        "slopes\nT, n",
        "caught\ntheory",
        "caught\nMPI",
        "\nverdict",
        narrow=True,
    )
    drawn.columns[0].no_wrap = True
    for entry in entries:
        runs, controls = entry.split()
        limit, stage = highest([[asdict(stage) for stage in one.stages] for one in runs])
        proof, noticed, kept, slopes, broken = _on_paper(entry.theory)
        drawn.add_row(
            entry.name,
            proof,
            noticed,
            kept,
            f"{limit:.2f} {stage}",
            slopes,
            broken,
            caught([one.ok for one in controls]),
            Text("FAILS", "bold red") if entry.problems else Text("holds", "green"),
        )
    return drawn


def _on_paper(theory: Mapping[str, Any] | None) -> tuple[str, str, str, str, str]:
    """Return what the theory alone says, column by column; dashes where it is silent."""
    if theory is None:
        return ("-",) * 5
    symbolic, slopes = theory["symbolic"], theory["slopes"] or ()
    return (
        str(len(symbolic["steps"])) if symbolic["derived"] else "fails",
        f"{symbolic['noticed']}/{symbolic['mutants']}",
        f"{highest([run['stages'] for run in theory['runs']])[0]:.2f}",
        " ".join(f"{float(slope['measured']['value']):.2f}" for slope in slopes) or "-",
        caught([control["ok"] for control in theory["controls"]]),
    )


def highest(runs: Sequence[Sequence[Mapping[str, Any]]]) -> tuple[float, str]:
    """Return the largest lower confidence limit of all stages that are ratios, and its stage."""
    ratios = [stage for stages in runs for stage in stages if stage["limit"] >= 1]
    if not ratios:
        return nan, "no stage"
    worst = max(ratios, key=lambda stage: _height(stage["low"]))
    return float(worst["low"]), worst["name"]


def _height(low: float | str) -> float:
    """Return a limit as a number; JSON has no NaN, which is text there, and the worst."""
    number = float(low)
    return inf if isnan(number) else number


def caught(controls: Sequence[bool]) -> str:
    """Return how many controls failed where they must."""
    return f"{sum(controls)}/{len(controls)}"
