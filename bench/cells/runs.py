"""The runs of the twelve cells: every algorithm with every step size, and of each the best one.

All algorithms make the same number of steps per worker, where everyone waits for everyone, and have
the same stragglers. Where nobody waits, a run ends when its fastest worker has made so many, so
that the slowest does not make the last steps alone.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, isfinite

from bench.cells import CELLS, Cell
from bench.grid import learnt
from bench.jobs import Found, Job, Outcome
from bench.targets import Target, reached
from bench.variants import Entry
from mpiddl.comm.simulated import Network
from mpiddl.errors import ConfigurationError
from mpiddl.stragglers import ends, parse
from mpiddl.synchronization import clocks_of
from mpiddl.train import Run

__all__ = [
    "Algorithm",
    "Choice",
    "Setting",
    "aim_at",
    "algorithms",
    "choose",
    "finals",
    "impossible",
    "outcomes",
    "trials",
]

SNAPSHOTS = 60  # of a run, at most about: the grain of times


@dataclass(frozen=True)
class Algorithm:
    """One algorithm of one cell; its line has four parts."""

    cell: Cell
    name: str
    entry: Entry


Choice = Mapping[Algorithm, float]


@dataclass(frozen=True)
class Setting:
    """What is the same for all cells.

    Parameters
    ----------
    problem : str
        What is learnt.
    workers : int
        Number of workers; servers come on top.
    steps : int
        Gradients per worker.
    grid : tuple of float
        Step sizes to try, increasing.
    seed, seeds : int
        The first seed, with which step sizes are chosen, and how many there are.
    network : Network
        What messages cost in virtual time.
    stragglers : str
        How long gradients take, see `mpiddl.stragglers`.
    """

    problem: str
    workers: int
    steps: int
    grid: tuple[float, ...]
    seed: int
    seeds: int
    network: Network
    stragglers: str

    @property
    def all_seeds(self) -> range:
        """The seeds of the chosen runs."""
        return range(self.seed, self.seed + self.seeds)


def algorithms() -> list[Algorithm]:
    """Return all algorithms, cell by cell."""
    return [
        Algorithm(cell, name, Entry(f"{line} / identity / whole"))
        for cell, lines in CELLS.items()
        for name, line in lines.items()
    ]


def run_of(setting: Setting, algorithm: Algorithm, gam: float, seed: int) -> Run:
    """Return one run."""
    variant, pace = algorithm.entry.variant(gam), parse(setting.stragglers, seed)
    clocks, made = clocks_of(variant.sync, setting.steps), None
    if variant.sync.staleness == inf:
        made = ends(pace, setting.workers, [variant.sync.steps(clock) for clock in range(clocks)])
    problem = learnt(setting.problem, setting.workers, seed)
    return Run(variant, problem, clocks, -(-clocks // SNAPSHOTS), pace, ends=made)


def _key(setting: Setting, algorithm: Algorithm, gam: float, seed: int) -> Hashable:
    return "cells", setting, algorithm, gam, seed


def _job(setting: Setting, algorithm: Algorithm, gam: float, seed: int) -> Job:
    key = _key(setting, algorithm, gam, seed)
    return Job(key, run_of(setting, algorithm, gam, seed), network=setting.network)


def impossible(setting: Setting) -> Iterator[tuple[Algorithm, str]]:
    """Yield the algorithms that so many workers cannot run, and why; pure."""
    for algorithm in algorithms():
        try:
            run = run_of(setting, algorithm, setting.grid[0], setting.seed)
            run.check(run.ranks)
        except ConfigurationError as error:
            yield algorithm, str(error)


def trials(setting: Setting, wanted: Sequence[Algorithm]) -> list[Job]:
    """Return the runs of which step sizes are chosen."""
    return [_job(setting, one, gam, setting.seed) for one in wanted for gam in setting.grid]


def aim_at(setting: Setting, found: Found, given: float | None) -> Target:
    """Return the f - f* to reach: `given`, or what S-SGD has at its best after half of its clocks.

    Raises
    ------
    ConfigurationError
        If S-SGD diverges with every step size.
    """
    if given is not None:
        return Target(given, "given")
    plain = algorithms()[0]
    gaps = [
        gap
        for gam in setting.grid
        if isfinite(gap := _half(found[_key(setting, plain, gam, setting.seed)]))
    ]
    if not gaps:
        raise ConfigurationError(
            f"{plain.name} diverges with every step size of {setting.grid}: name a target, or "
            "smaller step sizes"
        )
    return Target(min(gaps), f"what {plain.name} has at its best after half of its steps")


def _half(outcome: Outcome) -> float:
    curve = outcome.curve
    if outcome.diverged:
        return inf
    row = int((curve["clock"] >= curve["clock"][-1] / 2).argmax())
    return float(curve["loss"][row]) - (outcome.job.run.problem.constants.f_star or 0.0)


def choose(setting: Setting, wanted: Sequence[Algorithm], found: Found, aim: Target) -> Choice:
    """Return of every algorithm the step size with which it is there first, or comes closest."""

    def order(algorithm: Algorithm, gam: float) -> tuple[float, float]:
        outcome = found[_key(setting, algorithm, gam, setting.seed)]
        took = None if outcome.diverged else reached([outcome], aim)
        last = float(outcome.curve["loss"][-1])
        return took.seconds if took else inf, last if isfinite(last) else inf

    return {one: min(setting.grid, key=partial(order, one)) for one in wanted}


def finals(setting: Setting, choice: Choice) -> list[Job]:
    """Return the chosen runs with all seeds."""
    return [
        _job(setting, one, gam, seed) for one, gam in choice.items() for seed in setting.all_seeds
    ]


def outcomes(setting: Setting, choice: Choice, found: Found) -> dict[Algorithm, list[Outcome]]:
    """Return what came out of the chosen runs, one per seed."""
    return {
        one: [found[_key(setting, one, gam, seed)] for seed in setting.all_seeds]
        for one, gam in choice.items()
    }
