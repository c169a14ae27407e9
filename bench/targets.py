"""How soon, and with how many bytes, a variant is as good as a target; rank 0 alone imports this.

Local SGD does not say less per clock, it has fewer clocks: only what it takes to become as good
shows what it saves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, TypeAlias

import numpy as np

from bench.jobs import Outcome
from bench.variants import NAMED, Entry

Column: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

__all__ = ["Reached", "Target", "agreed_target", "reached"]


@dataclass(frozen=True)
class Target:
    """An f - f* (or an f, where f* is unknown) to reach, and where it is from, in words."""

    value: float
    meaning: str


@dataclass(frozen=True)
class Reached:
    """When the mean curve over all seeds has reached a target.

    `seconds` are virtual, `bytes` are those of all ranks together; both are means over the seeds.
    """

    seconds: float
    bytes: float


def _mean(outcomes: Sequence[Outcome], column: str) -> Column:
    means: Column = np.mean([outcome.curve[column] for outcome in outcomes], axis=0)
    return means


def _gaps(outcomes: Sequence[Outcome]) -> Column:
    return _mean(outcomes, "loss") - (outcomes[0].job.run.problem.constants.f_star or 0.0)


def agreed_target(given: float | None, runs: Mapping[Entry, Sequence[Outcome]]) -> Target | None:
    """Return `given`, or what plain bsp reaches at half of its clocks; else what the best does.

    Parameters
    ----------
    given : float or None
        What was asked for.
    runs : mapping
        The chosen runs of every variant, one per seed.

    Returns
    -------
    Target or None
        None if every run has diverged.
    """
    if given is not None:
        return Target(given, "given")
    fine = {entry: _gaps(outcomes) for entry, outcomes in runs.items()}
    fine = {entry: gaps for entry, gaps in fine.items() if isfinite(gaps[-1])}
    if not fine:
        return None
    plain = Entry(NAMED["bsp"])
    entry = plain if plain in fine else min(fine, key=lambda entry: float(fine[entry][-1]))
    clocks = runs[entry][0].curve["clock"]
    half = int(np.argmax(clocks >= clocks[-1] / 2))
    meaning = f"what {entry.name} has at clock {clocks[half]:.0f} of {clocks[-1]:.0f}"
    return Target(float(fine[entry][half]), meaning)


def reached(outcomes: Sequence[Outcome], target: Target | None) -> Reached | None:
    """Return what it took until the first snapshot that is as good as `target`, or None."""
    if target is None:
        return None
    good = _gaps(outcomes) <= target.value
    if not good.any():
        return None
    first = int(np.argmax(good))
    seconds, nbytes = (float(_mean(outcomes, name)[first]) for name in ("seconds", "bytes"))
    return Reached(seconds, nbytes)
