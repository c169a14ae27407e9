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
from typing import TYPE_CHECKING, ClassVar

from bench.claims import Budget, claims
from bench.jobs import Found, Job, Outcome, late
from bench.judge import Outcome as Decision
from bench.judge import Subject, Verdict, undecided

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
            predicted += clock.bytes * outcome.job.run.clocks
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


def agrees(outcome: Outcome, messages: int, nbytes: int) -> bool:
    """Whether every snapshot counts so many messages and bytes a clock, and all arrived.

    Where clocks may be missing, a snapshot is not the end of everybody's clock: the last one is.
    """
    counted = slice(-1, None) if late(outcome.job.run) else slice(None)
    curves = [curve for curve in (outcome.curve, outcome.real) if curve is not None]
    return outcome.sent == outcome.received == nbytes * outcome.job.run.clocks and all(
        (curve[name] == total * curve["clock"])[counted].all()
        for curve in curves
        for name, total in (("bytes", nbytes), ("messages", messages))
    )


claims.register("bytes_on_the_wire")(BytesOnTheWire())
