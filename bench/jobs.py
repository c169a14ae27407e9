"""Runs that are waiting to be made, and the ranks that make them.

A job is a run and what it is for. `Crew` makes jobs under MPI: those that need fewer ranks than
there are run side by side, in groups of their size. What came out arrives on rank 0 alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.console import Progress
from bench.traces import Trace
from bench.wrappers import watched
from mpiddl.arrays import Array
from mpiddl.errors import Diverged
from mpiddl.record import Curve
from mpiddl.train import Run, run

if TYPE_CHECKING:
    from mpiddl.comm.mpi import MPICommunicator

__all__ = ["Crew", "Found", "Job", "Outcome", "check"]


@dataclass(frozen=True)
class Job:
    """One run.

    Parameters
    ----------
    key : Hashable
        What it is for; no two jobs of a bench have the same.
    run : Run
        What to run, on `run.ranks` ranks.
    watched : bool
        Whether gradients, points and memories are wanted (one bucket only).
    """

    key: Hashable
    run: Run
    watched: bool = False

    @property
    def size(self) -> int:
        """How many ranks it needs."""
        return self.run.ranks


@dataclass(frozen=True)
class Outcome:
    """What came out of a job.

    Parameters
    ----------
    job : Job
        What was run.
    curve : Curve
        What it looked like; up to the end even if it diverged.
    diverged : bool
        Whether a displacement was not finite.
    sent, received : int
        Bytes handed to MPI by all senders, and bytes that arrived at all receivers.
    traces : tuple of Trace
        By rank, if the job was watched and did not diverge.
    services : array or None
        Whom the servers took in, and when (`mpiddl.ledger`); None if there are none.
    """

    job: Job
    curve: Curve
    diverged: bool
    sent: int
    received: int
    traces: tuple[Trace, ...] = ()
    services: Array | None = None


Found = Mapping[Hashable, Outcome]


def check(jobs: Iterable[Job]) -> None:
    """Raise ConfigurationError if a job cannot be run; pure, so all ranks refuse alike."""
    for job in jobs:
        job.run.check(job.size)


@dataclass(frozen=True)
class _Part:
    """What one rank knows of a job; curve and services are known to the group's first rank."""

    curve: Curve | None
    diverged: bool
    sent: int
    received: int
    trace: Trace | None
    services: Array | None


def _make(job: Job, comm: MPICommunicator) -> _Part:
    """Make one job on all ranks of `comm`."""
    task, log = watched(job.run) if job.watched else (job.run, None)
    sent, received = comm.traffic.sent.bytes, comm.traffic.received.bytes
    try:
        result, diverged = run(task, comm), False
    except Diverged as error:
        result, diverged = error.result, True  # type: ignore[assignment]
    trace = log.trace(comm.rank, result.x) if log is not None and not diverged else None
    return _Part(
        result.curve,
        diverged,
        comm.traffic.sent.bytes - sent,
        comm.traffic.received.bytes - received,
        trace,
        result.services,
    )


class Crew:
    """All ranks, ready to make jobs.

    Parameters
    ----------
    comm : MPICommunicator
        The ranks.
    progress : Progress
        What is told of finished jobs.
    """

    def __init__(self, comm: MPICommunicator, progress: Progress) -> None:
        self.comm, self.progress = comm, progress

    def make(self, title: str, jobs: Sequence[Job]) -> Found:
        """Make `jobs`, which were checked, the same sequence on every rank; collective.

        Returns
        -------
        mapping
            Outcomes by key on rank 0, empty on the others.
        """
        self.progress.stage(title, len(jobs))
        by_size: defaultdict[int, list[Job]] = defaultdict(list)
        for job in jobs:
            by_size[job.size].append(job)
        found: dict[Hashable, Outcome] = {}
        for size, batch in sorted(by_size.items(), reverse=True):
            found |= self._side_by_side(size, batch)
        return found

    def _side_by_side(self, size: int, jobs: Sequence[Job]) -> Found:
        groups = self.comm.size // size
        if size == self.comm.size:
            return self._collect(size, jobs, [self._advance(_make(job, self.comm)) for job in jobs])
        group = min(self.comm.rank // size, groups)  # whoever is left over waits in the last
        self.comm.rendezvous()
        with self.comm.split(group) as part:
            mine = jobs[group::groups] if group < groups else ()
            parts = [self._advance(_make(job, part), groups) for job in mine]
        return self._collect(size, jobs, parts)

    def _advance(self, part: _Part, groups: int = 1) -> _Part:
        self.progress.advance(groups)
        return part

    def _collect(self, size: int, jobs: Sequence[Job], parts: list[_Part]) -> Found:
        everyone = self.comm.gather(parts)
        if everyone is None:
            return {}
        groups, found = self.comm.size // size, {}
        for index, job in enumerate(jobs):
            first = index % groups * size
            team = [parts[index // groups] for parts in everyone[first : first + size]]
            found[job.key] = _join(job, team)
        return found


def _join(job: Job, team: Sequence[_Part]) -> Outcome:
    """Return what the ranks of one job know together."""
    assert team[0].curve is not None
    return Outcome(
        job,
        team[0].curve,
        team[0].diverged,
        sum(part.sent for part in team),
        sum(part.received for part in team),
        tuple(part.trace for part in team if part.trace is not None),
        team[0].services,
    )
