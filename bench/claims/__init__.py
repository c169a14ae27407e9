"""Claims: one sentence a file that can be doubted, the runs that test it, and how they are judged.

A claim says which runs it needs (`jobs`, on every rank) and what came out of them means (`judge`,
on rank 0, which alone imports sympy and scipy). What it claims and what it runs are separate
fields, so that a test can break the one and keep the other: every claim has such a control.

| file                   | theorem             | measured                                     |
|------------------------|---------------------|----------------------------------------------|
| `linear_speedup.py`    | bsp-sc-const        | slope of the stationary error over n         |
| `error_feedback.py`    | ef-sgd-nonconvex    | measured / bound, with and without memory    |
| `spectral_gap.py`      | gossip-consensus    | contraction of one mixing                    |
| `local_consensus.py`   | local-sgd-nonconvex | measured / bound, distance between workers   |
| `bytes_on_the_wire.py` | cost, wire          | bytes sent and received, against the formula |
| `same_in_both_worlds.py` | the simulator     | runs under MPI, bit for bit                  |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bench.jobs import Found, Job
from bench.judge import Subject, Verdict
from mpiddl.registry import Registry

__all__ = ["Budget", "Claim", "claims"]


@dataclass(frozen=True)
class Budget:
    """What a claim may use: `ranks` in all, `seeds` repetitions that start with `seed`.

    All repetitions are simulated; those with the first seed are run under MPI too.
    """

    ranks: int
    seeds: int
    seed: int

    @property
    def all_seeds(self) -> range:
        """The seeds of the repetitions."""
        return range(self.seed, self.seed + self.seeds)

    def under_mpi(self, seed: int) -> bool:
        """Whether the run with `seed` is made under MPI too: `Job(.., mpi=..)`."""
        return seed == self.seed


class Claim(Protocol):
    """A claim; `subject` is its sentence and the theorem behind it."""

    @property
    def subject(self) -> Subject:
        """What is judged."""

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return the runs to make; none if there are too few ranks. Pure, alike on all ranks."""

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge what came out of all runs of this bench, by key; on rank 0."""


claims: Registry[Claim] = Registry("bench.claims", "claim")
