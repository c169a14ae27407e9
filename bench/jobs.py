"""Runs that are waiting to be made, and what came out of them.

Every job is simulated, so curves are cheap and repeat; what is claimed of MPI is run under MPI too
(`mpi=True`), and must be the same to the bit. `bench.crew.Crew` makes jobs.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from bench.traces import Trace
from mpiddl.arrays import Array, on_host
from mpiddl.comm.simulated import Network
from mpiddl.curve import COLUMNS, Curve
from mpiddl.train import Run

__all__ = ["Found", "Job", "Made", "Outcome", "check", "difference", "digest", "late", "stale"]

TIMED = ("seconds",)  # the columns that differ between two worlds by their nature
SENT = ("bytes", "messages")


@dataclass(frozen=True)
class Job:
    """One run.

    Parameters
    ----------
    key : Hashable
        What it is for; a job with the key of an earlier one is that job, and is not simulated
        again.
    run : Run
        What to run, on `run.ranks` ranks.
    watched : bool
        Whether gradients, points and memories are wanted (one bucket only).
    mpi : bool
        Whether it is run under MPI too, and compared.
    network : Network or None
        What messages cost in the simulator, in virtual time; None: nothing.
    """

    key: Hashable
    run: Run
    watched: bool = False
    mpi: bool = False
    network: Network | None = None

    @property
    def size(self) -> int:
        """How many ranks it needs."""
        return self.run.ranks


@dataclass(frozen=True)
class Made:
    """What one world, simulated or MPI, made of a job.

    Parameters
    ----------
    curve : Curve
        What it looked like; up to the end even if it diverged.
    diverged : bool
        Whether a displacement was not finite.
    sent, received : int
        Bytes that all senders handed over, and bytes that arrived at all receivers.
    digests : tuple of str
        By rank: of its model at the end, and of its trace.
    traces : tuple of Trace
        By rank, if the job was watched and did not diverge.
    services : array or None
        Whom the servers took in, and when (`mpiddl.ledger`), if clocks may be missing.
    """

    curve: Curve
    diverged: bool
    sent: int
    received: int
    digests: tuple[str, ...] = ()
    traces: tuple[Trace, ...] = ()
    services: Array | None = None


@dataclass(frozen=True)
class Outcome:
    """What came out of a job.

    Parameters
    ----------
    job : Job
        What was run.
    curve : Curve
        What it looked like in the simulator: seconds are virtual.
    diverged : bool
        Whether a displacement was not finite, in either world.
    sent, received : int
        Bytes handed to MPI by all senders, and bytes that arrived at all receivers; those of the
        simulator where the job was not run under MPI.
    traces : tuple of Trace
        By rank, if the job was watched and did not diverge; of MPI where it ran there.
    services : array or None
        Whom the servers took in, and when (`mpiddl.ledger`), if clocks may be missing; of MPI where
        it ran there.
    real : Curve or None
        What it looked like under MPI: seconds are wall seconds. Of an asynchronous run it is
        another curve than `curve`: who comes first is chance.
    same : bool or None
        Whether both worlds agree to the bit; an asynchronous run is compared with its replay in
        the simulator. None: not run under MPI.
    differs : str
        What does not agree, in words.
    """

    job: Job
    curve: Curve
    diverged: bool
    sent: int
    received: int
    traces: tuple[Trace, ...] = ()
    services: Array | None = None
    real: Curve | None = None
    same: bool | None = None
    differs: str = ""

    @classmethod
    def of(cls, job: Job, simulated: Made, real: Made | None, replay: Made | None) -> Outcome:
        """Return what is known of `job`: `replay` is the twin of `real` where chance reigns."""
        last = real or simulated
        differs = difference(replay or simulated, real, late(job.run)) if real else ""
        return cls(
            job,
            simulated.curve,
            simulated.diverged or last.diverged,
            last.sent,
            last.received,
            last.traces,
            last.services,
            real.curve if real else None,
            not differs if real else None,
            differs,
        )


Found = Mapping[Hashable, Outcome]


def check(jobs: Iterable[Job]) -> None:
    """Raise ConfigurationError if a job cannot be run; pure, so all ranks refuse alike."""
    for job in jobs:
        job.run.check(job.size)


def stale(run: Run) -> bool:
    """Whether what came when counts: then runs under MPI are not repeatable, but replayed."""
    return run.variant.left_to_chance


def late(run: Run) -> bool:
    """Whether what belongs to a clock may be sent after its snapshot, except the last one."""
    return stale(run) or run.variant.sync.staleness > 0


def digest(x: Array, trace: Trace | None) -> str:
    """Return what stands for the bits of a model and a trace."""
    sums = sha256(np.ascontiguousarray(on_host(x)).data)
    for part in (trace.y, trace.g, trace.e, trace.v) if trace else ():
        if part is not None:
            sums.update(np.ascontiguousarray(part).data)
    return sums.hexdigest()


def difference(one: Made, other: Made, chance: bool) -> str:
    """Return what the two worlds do not agree on, or an empty text.

    Where it is `chance` what was sent before a snapshot, as a server answers others before or after
    one of its own rank, that is compared in the last snapshot only.
    """
    if one.diverged or other.diverged:
        return "" if one.diverged == other.diverged else "only one of the two diverged"
    for name in COLUMNS:
        first, second = one.curve[name], other.curve[name]
        if chance and name in SENT:
            first, second = first[-1:], second[-1:]
        if name not in TIMED and not np.array_equal(first, second, equal_nan=True):
            return f"the column {name} of the curve"
    if (one.sent, one.received) != (other.sent, other.received):
        return "the bytes sent or received"
    wrong = [
        r for r, pair in enumerate(zip(one.digests, other.digests, strict=True)) if len({*pair}) > 1
    ]
    return f"the model or the trace of rank {wrong[0]}" if wrong else ""
