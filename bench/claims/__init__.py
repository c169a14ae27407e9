"""Claims: one sentence a file that can be doubted, the runs that test it, and how they are judged.

A claim says which runs it needs (`jobs`, on every rank) and judges what came out of them (`judge`,
on rank 0, which alone imports sympy and scipy). What it claims and what it runs are separate
fields, so that a test can break the one and keep the other: every claim has such a control.

| file                  | theorem                        | measured                               |
|-----------------------|--------------------------------|----------------------------------------|
| `linear_speedup`      | bsp-sc-const                   | slope of the stationary error over n   |
| `speedup_of_cells`    | bsp-sc-const, theory.delayed   | the same in all twelve cells           |
| `exponent_in_T`       | bsp-convex, bsp-sc-decreasing  | slopes over T                          |
| `worst_case`          | gd-convex                      | the gap, which is the bound            |
| `large_batch`         | linear scaling                 | loss of n workers, of one              |
| `local_consensus`     | local-sgd-nonconvex            | distance between workers, its lemma    |
| `local_price`         | local-sgd-convex-iid           | loss, its bound, the loss of H = 1     |
| `critical_period`     | local-sgd-*, theory.bent       | the H that costs a quarter, by n, noise|
| `critical_staleness`  | asgd-nonconvex, theory.delayed | the s that costs a quarter, the same   |
| `spectral_gap`        | gossip-consensus               | contraction of one mixing, by graph    |
| `graph_consensus`     | dpsgd-nonconvex-atc, -cta      | distance between workers, their lemmas |
| `unbiased_noise`      | qsgd-nonconvex, -shared        | noise of randk, qsgd, one mask for all |
| `error_feedback`      | ef-sgd-nonconvex               | bound, with and without memory         |
| `difference`          | ef21                           | bound, with and without references     |
| `staleness`           | ssp-nonconvex                  | what pulls miss; ssp:0 against bsp     |
| `asynchronous`        | theory.delayed, asgd-nonconvex | noise of asp, given its delays         |
| `staleness_price`     | theory.delayed                 | noise of means that come late          |
| `time_to_target`      | rates of those who wait or not | virtual seconds of asp, ssp, bsp       |
| `backup_workers`      | critical path, theory.delayed  | seconds of a clock, noise, of n - b    |
| `outer_momentum`      | 2x2 recursion                  | contraction of a round, clocks it saves|
| `heterogeneity`       | fixed point of gossip          | distance of D-PSGD, D2, tracking       |
| `bytes_on_the_wire`   | theory.cost, theory.wire       | bytes of all runs, their formula       |
| `collective_cost`     | theory.cost                    | messages, bytes, seconds by exchange   |
| `same_in_both_worlds` | the simulator                  | runs under MPI, bit for bit            |
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from bench.jobs import Found, Job
from bench.judge import Subject, Verdict
from bench.networks import NETWORKS
from mpiddl.comm.simulated import Network
from mpiddl.registry import Registry
from mpiddl.train import Run

__all__ = ["Budget", "Claim", "claims", "verdicts"]

USUAL = 8  # workers


@dataclass(frozen=True)
class Budget:
    """What a claim may use.

    Parameters
    ----------
    ranks : int
        Ranks in all. A claim that needs more is simulated all the same, and says so.
    seeds, seed : int
        Repetitions, and the seed of the first. All are simulated; the first is run under MPI too.
    network : Network
        What messages cost, where a claim is about time.
    quick : bool
        Whether there is less of everything: claims with large runs make smaller ones.
    """

    ranks: int
    seeds: int
    seed: int
    network: Network = NETWORKS["10gbe"].network
    quick: bool = False

    @property
    def all_seeds(self) -> range:
        """The seeds of the repetitions."""
        return range(self.seed, self.seed + self.seeds)

    def workers(self, least: int) -> int:
        """Return how many workers use all ranks; 8 if these are fewer than `least`, or in a hurry.

        Runs on 8 of 32 ranks are made side by side.
        """
        if self.ranks < least:
            return USUAL
        return min(self.ranks, USUAL) if self.quick else self.ranks

    def job(self, key: Hashable, run: Run, *, watched: bool = False) -> Job:
        """Return `run` as a job, made under MPI too if it has the first seed and ranks enough."""
        real = run.problem.seed == self.seed and run.ranks <= self.ranks
        return Job(key, run, watched, real)

    def told(self, ranks: int) -> str:
        """Return how often and where runs of `ranks` ranks were made, for a reason."""
        where = "1 under MPI" if ranks <= self.ranks else "simulated"
        return f"{self.seeds} seeds, {where}"


class Claim(Protocol):
    """A claim; `subject` is its sentence and the theorem behind it."""

    @property
    def subject(self) -> Subject:
        """What is judged."""

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return the runs to make. Pure, alike on all ranks."""

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge what came out of all runs of this bench, by key; on rank 0."""


claims: Registry[Claim] = Registry("bench.claims", "claim")


def verdicts(names: Iterable[str], found: Found, budget: Budget) -> Iterator[Verdict]:
    """Judge the claims called `names`; on rank 0."""
    for name in names:
        yield replace(claims[name].judge(found, budget), name=name)
