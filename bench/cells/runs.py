"""The runs of the twelve cells: every algorithm with every step size, and of each the best one.

All algorithms make the same number of steps per worker where everyone waits for everyone, and have
the same stragglers. Where nobody waits, a run ends when its fastest worker has made so many, so
that the slowest does not make the last steps alone.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from math import inf, isfinite

from bench.cells import CELLS, Cell
from bench.grid import learnt
from bench.jobs import Found, Job, Outcome
from bench.targets import Target, reached
from bench.variants import GRIDS, Entry
from mpiddl.comm.simulated import Network
from mpiddl.errors import ConfigurationError
from mpiddl.stragglers import ends, parse
from mpiddl.synchronization import clocks_of
from mpiddl.train import Run

__all__ = ["Algorithm", "Cells", "Choice", "Setting"]

SNAPSHOTS = 60  # of a run, at most about: the grain of times
PROBLEM = "breast_cancer"


@dataclass(frozen=True)
class Algorithm:
    """One algorithm of one cell; its line has four parts."""

    cell: Cell
    name: str
    entry: Entry


@dataclass(frozen=True)
class Choice:
    """What is to be reached, and the step size with which each algorithm is there first."""

    target: Target
    steps: Mapping[Algorithm, float]


@dataclass(frozen=True)
class Setting:
    """What is the same for all cells.

    Parameters
    ----------
    network : Network
        What messages cost in virtual time.
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
    stragglers : str
        How long gradients take, see `mpiddl.stragglers`.
    """

    network: Network
    problem: str = PROBLEM
    workers: int = 8
    steps: int = 96
    grid: tuple[float, ...] = GRIDS[PROBLEM]
    seed: int = 0
    seeds: int = 3
    stragglers: str = "slow:1e-3,factor=4"


class Cells:
    """All runs of one setting.

    Parameters
    ----------
    setting : Setting
        What they have in common.

    Attributes
    ----------
    wanted : list of Algorithm
        What is run, cell by cell.
    left_out : dict
        What so many workers cannot run in so few steps, and why.

    Raises
    ------
    ConfigurationError
        If there are no such stragglers.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.wanted: list[Algorithm] = []
        self.left_out: dict[Algorithm, str] = {}
        self._require_stragglers()
        for cell, lines in CELLS.items():
            for name, line in lines.items():
                algorithm = Algorithm(cell, name, Entry(f"{line} / identity / whole"))
                try:
                    run = self.run(algorithm, setting.grid[0], setting.seed)
                    run.check(run.ranks)
                    self.wanted.append(algorithm)
                except ConfigurationError as error:
                    self.left_out[algorithm] = str(error)

    def _require_stragglers(self) -> None:
        """Raise ConfigurationError for nonsense, or if who is slow is none of the workers."""
        setting = self.setting
        slow = getattr(parse(setting.stragglers, setting.seed).model, "worker", 0)
        if slow >= setting.workers:
            raise ConfigurationError(
                f"{setting.stragglers} makes worker {slow} slow, but there are {setting.workers}: "
                f"write a worker of 0 to {setting.workers - 1}"
            )

    def run(self, algorithm: Algorithm, gam: float, seed: int) -> Run:
        """Return one run."""
        setting, variant = self.setting, algorithm.entry.variant(gam)
        pace, made = parse(setting.stragglers, seed), None
        clocks = clocks_of(variant.sync, setting.steps)
        if clocks and variant.sync.staleness == inf:
            steps = [variant.sync.steps(clock) for clock in range(clocks)]
            made = ends(pace, setting.workers, steps)
        problem = learnt(setting.problem, setting.workers, seed)
        return Run(variant, problem, clocks, -(-clocks // SNAPSHOTS), pace, ends=made)

    def _key(self, algorithm: Algorithm, gam: float, seed: int) -> Hashable:
        return "cells", self.setting, algorithm, gam, seed

    def _job(self, algorithm: Algorithm, gam: float, seed: int) -> Job:
        key, run = self._key(algorithm, gam, seed), self.run(algorithm, gam, seed)
        return Job(key, run, network=self.setting.network)

    @cached_property
    def seeds(self) -> range:
        """The seeds of the chosen runs."""
        return range(self.setting.seed, self.setting.seed + self.setting.seeds)

    def trials(self) -> list[Job]:
        """Return the runs of which step sizes are chosen."""
        setting = self.setting
        return [self._job(one, gam, setting.seed) for one in self.wanted for gam in setting.grid]

    def _target(self, found: Found, given: float | None) -> Target:
        if given is not None:
            return Target(given, "given")
        plain, setting = self.wanted[0], self.setting
        halves = [_half(found[self._key(plain, gam, setting.seed)]) for gam in setting.grid]
        if not isfinite(min(halves)):
            raise ConfigurationError(
                f"{plain.name} diverges with every step size of {setting.grid}: name a target, or "
                "smaller step sizes"
            )
        return Target(min(halves), f"what {plain.name} has at its best after half of its steps")

    def choose(self, found: Found, given: float | None) -> Choice:
        """Return what is to be reached, `given` or by S-SGD, and the best step sizes.

        Raises
        ------
        ConfigurationError
            If nothing is given and S-SGD diverges with every step size.
        """
        target = self._target(found, given)

        def order(algorithm: Algorithm, gam: float) -> tuple[float, float]:
            outcome = found[self._key(algorithm, gam, self.setting.seed)]
            took = None if outcome.diverged else reached([outcome], target)
            last = float(outcome.curve["loss"][-1])
            return took.seconds if took else inf, last if isfinite(last) else inf

        grid = self.setting.grid
        return Choice(target, {one: min(grid, key=partial(order, one)) for one in self.wanted})

    def finals(self, choice: Choice) -> list[Job]:
        """Return the chosen runs with all seeds."""
        steps = choice.steps.items()
        return [self._job(one, gam, seed) for one, gam in steps for seed in self.seeds]

    def outcomes(self, choice: Choice, found: Found) -> dict[Algorithm, list[Outcome]]:
        """Return what came out of the chosen runs, one per seed."""
        return {
            one: [found[self._key(one, gam, seed)] for seed in self.seeds]
            for one, gam in choice.steps.items()
        }


def _half(outcome: Outcome) -> float:
    """Return f - f* after half of the clocks."""
    curve, f_star = outcome.curve, outcome.job.run.problem.constants.f_star or 0.0
    row = int((curve["clock"] >= curve["clock"][-1] / 2).argmax())
    return inf if outcome.diverged else float(curve["loss"][row]) - f_star
