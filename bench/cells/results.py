"""What is known of every algorithm of the twelve cells, and which is the best; rank 0 alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

import numpy as np

from bench.cells import WHEN, WHOM, Cell
from bench.cells.runs import Algorithm, Cells, Choice
from bench.jobs import Found, Outcome
from bench.targets import Reached, Target, reached

__all__ = ["Result", "Results"]


@dataclass(frozen=True)
class Result:
    """One algorithm with its best step size.

    Parameters
    ----------
    algorithm : Algorithm
        Which, and of which cell.
    gam : float
        The step size.
    runs : sequence of Outcome
        One per seed.
    took : Reached or None
        Virtual seconds and bytes until the target, of the mean curve; None: it was not reached.
    """

    algorithm: Algorithm
    gam: float
    runs: Sequence[Outcome]
    took: Reached | None

    @property
    def outcome(self) -> str:
        """In a word: "reached", "not reached" or "diverged"."""
        if any(run.diverged for run in self.runs):
            return "diverged"
        return "reached" if self.took else "not reached"

    @property
    def loss(self) -> float:
        """Mean loss over the seeds at the end; not finite where a run diverged."""
        return float(np.mean([run.curve["loss"][-1] for run in self.runs]))

    @property
    def gap(self) -> float:
        """The same, less the least value of the problem."""
        return self.loss - (self.f_star or 0.0)

    @property
    def f_star(self) -> float | None:
        """The least value of the problem; None: unknown."""
        least: float | None = self.runs[0].job.run.problem.constants.f_star
        return least

    @property
    def rank(self) -> tuple[float, float]:
        """What orders results, the best first."""
        return self.took.seconds if self.took else inf, self.loss if isfinite(self.loss) else inf

    def as_dict(self, best: bool, setting: str) -> dict[str, Any]:
        """Return the object of cells.json.

        `best` says whether its cell has no better one, `setting` in words what is the same for all.
        """
        (when, whom), diverged = self.algorithm.cell, self.outcome == "diverged"
        return {
            "synchronization": WHEN[when],
            "architecture": WHOM[whom],
            "algorithm": self.algorithm.name,
            "variant": str(self.algorithm.entry.variant(self.gam)),
            "seconds_to_target": self.took and self.took.seconds,
            "bytes_to_target": self.took and self.took.bytes,
            "final_loss": None if diverged else self.loss,
            "outcome": self.outcome,
            "best_of_cell": best,
            "setting": setting,
            "f_star": self.f_star,
            "curve": {
                name: [value if isfinite(value) else None for value in self._mean(name)]
                for name in ("seconds", "bytes", "loss")
            },
        }

    def _mean(self, column: str) -> list[float]:
        with np.errstate(invalid="ignore", over="ignore"):  # a run may have diverged
            mean = np.mean([run.curve[column] for run in self.runs], axis=0)
        return [float(value) for value in mean]


class Results:
    """What came out of all cells.

    Parameters
    ----------
    cells : Cells
        The runs.
    choice : Choice
        Target and step sizes.
    found : Found
        Outcomes of the runs.
    network : str
        What the network is called.
    """

    def __init__(self, cells: Cells, choice: Choice, found: Found, network: str) -> None:
        self.cells, self.choice, self.network = cells, choice, network
        self.all = [
            Result(one, choice.steps[one], runs, _took(runs, choice.target))
            for one, runs in cells.outcomes(choice, found).items()
        ]

    @property
    def best(self) -> Mapping[Cell, Result]:
        """The result of every cell that is there first, or else comes closest."""
        best: dict[Cell, Result] = {}
        for result in sorted(self.all, key=lambda result: result.rank):
            best.setdefault(result.algorithm.cell, result)
        return best

    @property
    def setting(self) -> str:
        """What is the same for all, in words."""
        setting, target = self.cells.setting, self.choice.target
        return (
            f"{setting.problem}: {setting.workers} workers, {setting.steps} gradients each; "
            f"seconds of a gradient: {setting.stragglers}; network {self.network}; "
            f"{setting.seeds} seeds; target: f - f* = {target.value:.3g}, {target.meaning}"
        )

    def contents(self) -> list[dict[str, Any]]:
        """Return the objects of cells.json."""
        best = {id(result) for result in self.best.values()}
        return [result.as_dict(id(result) in best, self.setting) for result in self.all]


def _took(runs: Sequence[Outcome], target: Target) -> Reached | None:
    return None if any(run.diverged for run in runs) else reached(runs, target)
