"""What was measured, and whether it is within its limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mpiddl.comm.mpi import MPICommunicator

__all__ = ["Measure", "best", "judged", "of_repetitions"]


@dataclass(frozen=True)
class Measure:
    """One row of the table.

    Parameters
    ----------
    what : str
        What was measured.
    unit : str
        Of what: a word behind the number.
    median, low, high : float
        The median of the repetitions, and their quartiles.
    limit : float or None
        What the median may be at most, or must be at least; None: for information.
    at_least : bool
        Whether more is better.
    """

    what: str
    unit: str
    median: float
    low: float
    high: float
    limit: float | None = None
    at_least: bool = False

    @property
    def holds(self) -> bool:
        """Whether it is within its limit, if it has one."""
        if self.limit is None:
            return True
        return self.median >= self.limit if self.at_least else self.median <= self.limit


def of_repetitions(
    what: str,
    unit: str,
    values: Sequence[float],
    limit: float | None = None,
    *,
    at_least: bool = False,
) -> Measure:
    """Return the measure that `values`, one a repetition, amount to."""
    low, median, high = (float(one) for one in np.quantile(values, (0.25, 0.5, 0.75)))
    return Measure(what, unit, median, low, high, limit, at_least)


def judged(comm: MPICommunicator, ranks: int) -> bool:
    """Whether limits hold here: they are for so many `ranks` and for the MPI that mpiddl brings."""
    return comm.size == ranks and comm.library.startswith("MPICH")


def best(attempts: Sequence[Sequence[Measure]]) -> list[Measure]:
    """Return of every row the best attempt; all attempts have the same rows."""
    return [
        (max if same[0].at_least else min)(same, key=lambda one: one.median)
        for same in zip(*attempts, strict=True)
    ]
