"""Every variant sends exactly the bytes that its formula says, and all of them arrive.

Theorem     the closed forms of `theory.cost` (who sends how often) and `theory.wire` (how long a
            payload is), exact for any number of ranks and any vector
Measured    bytes and messages that were sent, in every snapshot of every run of this bench, in the
            simulator and under MPI; and what the receivers say has arrived
Broken if   one byte is missing in either
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from bench.claims import Budget, claims
from bench.jobs import Found, Job, Outcome, late
from bench.judge import Outcome as Decision
from bench.judge import Subject, Verdict, undecided
from mpiddl.curve import Curve
from mpiddl.train import Run

if TYPE_CHECKING:
    from bench.predict import Formula

__all__ = ["BytesOnTheWire"]


@dataclass(frozen=True)
class BytesOnTheWire:
    """The claim that all runs meet a formula; None is that of `bench.predict`."""

    formula: Formula | None = None

    subject: ClassVar[Subject] = Subject(
        "bytes sent = bytes received = the formula", "theory.cost, theory.wire"
    )

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return nothing: all other runs of this bench are looked at."""
        return ()

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Compare all snapshots of all runs."""
        from bench.predict import per_clock

        formula, wrong = self.formula or per_clock, []
        predicted = sent = runs = 0
        for outcome in found.values():
            clock = formula(outcome.job.run)
            if clock is None:
                continue
            runs += 1
            predicted += int(clock.bytes * mean_clocks(outcome.job.run))
            sent += outcome.sent
            if not agrees(outcome, clock.messages, clock.bytes):
                wrong.append(str(outcome.job.run.variant))
        if not (runs and (predicted or sent)):
            return undecided(self.subject, f"nothing to send in {runs} runs that have a formula")
        reason = f"every snapshot of {runs} runs; messages too"
        if wrong:
            reason = f"{len(wrong)} of {runs} runs differ, the first is {wrong[0]}"
        outcome_ = Decision.FAILS if wrong else Decision.HOLDS
        args = (self.subject.claim, self.subject.theorem, predicted, sent, sent, sent)
        return Verdict(*args, outcome_, reason)


def mean_clocks(run: Run) -> Fraction:
    """Return how many clocks a worker makes in the mean: fewer than the run has if some end."""
    return Fraction(sum(run.all_clocks), run.problem.workers)


def agrees(outcome: Outcome, messages: int, nbytes: int) -> bool:
    """Whether every snapshot counts so many messages and bytes a clock, and all arrived.

    Where clocks may be missing, a snapshot is not the end of everybody's clock: the last one is.
    """
    run, made = outcome.job.run, mean_clocks(outcome.job.run)

    def counted(curve: Curve, name: str, total: int) -> bool:
        if late(run):
            return bool(curve[name][-1] == float(total * made))
        return bool((curve[name] == total * curve["clock"]).all())

    curves = [curve for curve in (outcome.curve, outcome.real) if curve is not None]
    return outcome.sent == outcome.received == nbytes * made and all(
        counted(curve, name, total)
        for curve in curves
        for name, total in (("bytes", nbytes), ("messages", messages))
    )


claims.register("bytes_on_the_wire")(BytesOnTheWire())
