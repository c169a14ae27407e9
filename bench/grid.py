"""A table of variants: every variant with every step size, and of each the best one, thoroughly.

All variants make the same number of steps, with the same noise, from the same start, and choose
from the same grid, in the simulator. The chosen one is run under MPI too, and simulated with more
seeds, of which intervals are made. Where the best step size lies at the edge of the grid, a better
one may lie outside, and the row says so.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import inf, isfinite, lcm

from bench.jobs import Found, Job, Outcome
from bench.variants import Entry
from mpiddl.comm.simulated import Network
from mpiddl.errors import ConfigurationError
from mpiddl.problems import Problem, problem
from mpiddl.synchronization import clocks_of
from mpiddl.train import Run

__all__ = ["Choice", "Table", "Terms", "gap", "learnt", "round_up"]

SNAPSHOTS = 16  # of a run, at most about
HEAVY = 3 << 18  # numbers in all snapshots of a run, about: one rank of the simulator holds them

Choice = Mapping[Entry, float | None]


@cache
def learnt(name: str, workers: int, seed: int) -> Problem:
    """Return the problem, one object for all runs on it."""
    return problem(name, workers, seed)


def round_up(steps: int, entries: Sequence[Entry]) -> int:
    """Return the least number of at least `steps` that every variant's period divides."""
    period = lcm(*(entry.plain.sync.period for entry in entries))
    return -(-steps // period) * period


def gap(outcome: Outcome) -> float:
    """Return f(xbar) - f* at the end of a run; f itself if f* is unknown, inf if it diverged."""
    value = float(outcome.curve["loss"][-1]) - (outcome.job.run.problem.constants.f_star or 0.0)
    return value if isfinite(value) and not outcome.diverged else inf


@dataclass(frozen=True)
class Terms:
    """What is the same for all runs of a table.

    Parameters
    ----------
    ranks : int
        How many there are: workers and servers.
    seed, seeds : int
        The first seed, with which step sizes are chosen, and how many there are.
    network : Network
        What messages cost in virtual time.
    compute : float
        Virtual seconds of a gradient.
    """

    ranks: int
    seed: int
    seeds: int
    network: Network
    compute: float


class Table:
    """The runs of a table of variants on one problem.

    Parameters
    ----------
    name : str
        The problem.
    entries : sequence of Entry
        The variants.
    steps : int
        Gradients per worker and run, a multiple of every variant's period.
    grid : tuple of float
        Step sizes, increasing.
    terms : Terms
        What all runs have in common.
    """

    def __init__(
        self,
        name: str,
        entries: Sequence[Entry],
        steps: int,
        grid: tuple[float, ...],
        terms: Terms,
    ) -> None:
        self.name, self.entries, self.steps = name, tuple(entries), steps
        self.grid, self.terms = grid, terms

    def problem(self, entry: Entry | None = None, seed: int | None = None) -> Problem:
        """Return what the workers of `entry` learn; of None: what all ranks would."""
        servers = entry.plain.architecture.servers if entry else 0
        seed = self.terms.seed if seed is None else seed
        return learnt(self.name, self.terms.ranks - servers, seed)

    def run(self, entry: Entry, gam: float | None, seed: int) -> Run:
        """Return one run."""
        variant, found = entry.variant(gam), self.problem(entry, seed)
        clocks = clocks_of(variant.sync, self.steps)
        most = max(2, min(SNAPSHOTS, HEAVY // (found.layout.size * self.terms.ranks)))
        return Run(variant, found, clocks, -(-clocks // most), self.terms.compute)

    def key(self, entry: Entry, gam: float | None, seed: int) -> Hashable:
        """Return the key of one run among all jobs."""
        return "table", self.name, entry, gam, seed

    def _job(self, entry: Entry, gam: float | None, seed: int, mpi: bool) -> Job:
        run = self.run(entry, gam, seed)
        return Job(self.key(entry, gam, seed), run, mpi=mpi, network=self.terms.network)

    def impossible(self) -> Iterator[tuple[Entry, str]]:
        """Yield the variants that cannot be run on so many ranks, and why; pure."""
        for entry in self.entries:
            try:
                servers = entry.plain.architecture.servers
                if servers < self.terms.ranks:
                    entry.plain.check(self.problem(entry), self.terms.ranks)
                else:
                    remedy = f"start more than {servers} ranks, or write ps, where workers serve"
                    yield entry, f"{servers} servers leave no rank for a worker: {remedy}"
            except ConfigurationError as error:
                yield entry, str(error)

    def trials(self) -> list[Job]:
        """Return the runs of which step sizes are chosen; simulated."""
        return [
            self._job(entry, gam, self.terms.seed, mpi=False)
            for entry in self.entries
            for gam in entry.steps(self.grid)
        ]

    def choose(self, found: Found) -> Choice:
        """Return the step size of every variant with the least f - f* in its last eighth."""
        seed = self.terms.seed

        def late(entry: Entry, gam: float | None) -> float:
            outcome = found[self.key(entry, gam, seed)]
            losses = outcome.curve["loss"]
            return inf if gap(outcome) == inf else float(losses[7 * len(losses) // 8 :].mean())

        return {
            entry: min(entry.steps(self.grid), key=partial(late, entry)) for entry in self.entries
        }

    @property
    def seeds(self) -> range:
        """The seeds of the chosen runs."""
        return range(self.terms.seed, self.terms.seed + self.terms.seeds)

    def finals(self, choice: Choice) -> list[Job]:
        """Return the chosen runs: the first seed under MPI too, the others simulated."""
        return [
            self._job(entry, choice[entry], seed, mpi=seed == self.terms.seed)
            for entry in self.entries
            for seed in self.seeds
        ]
