"""What is simulated is what happens: a run under MPI is that of the simulator, bit for bit.

Theorem     none; the tasks of a rank are the same in both worlds, and sums are made in rank order
Measured    every run that was made under MPI beside its simulation: clocks, bytes, messages, loss,
            gradient, distances of all snapshots, the models of all ranks at the end. Where chance
            decides who comes first, the simulator repeats what the servers wrote down
Broken if   one bit differs
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from bench.claims import Budget, claims
from bench.jobs import Found, Job
from bench.judge import Subject, Verdict, equal

__all__ = ["SameInBothWorlds"]


@dataclass(frozen=True)
class SameInBothWorlds:
    """The claim that runs under MPI are those of the simulator."""

    subject: ClassVar[Subject] = Subject(
        "runs under MPI are those of the simulator, to the bit", "mpiddl.train"
    )

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return nothing: all other runs of this bench are looked at."""
        return ()

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Count the runs that are the same."""
        compared = [outcome for outcome in found.values() if outcome.same is not None]
        wrong = [outcome for outcome in compared if not outcome.same]
        reason = f"runs of {len(compared)} that are the same in both worlds"
        if wrong:
            first = wrong[0]
            reason = f"{reason}; the first that differs is {first.job.run.variant}: {first.differs}"
        same = len(compared) - len(wrong)
        return equal(self.subject, len(compared), [same] if compared else [], reason)


claims.register("same_in_both_worlds")(SameInBothWorlds())
