"""All ranks, making jobs: in the simulator, each rank some of them, then under MPI, together.

Jobs that need fewer ranks than there are run side by side, in groups of their size. A run in which
chance decides who comes first is made again in the simulator, in the order that was written down.
What came out arrives on rank 0 alone.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.console import Progress
from bench.jobs import Found, Job, Made, Outcome, digest, stale
from bench.pool import dealt, simulated
from bench.traces import Trace
from bench.wrappers import watched
from mpiddl.arrays import Array
from mpiddl.errors import Diverged
from mpiddl.ledger import Script, script_of
from mpiddl.record import Curve
from mpiddl.train import run

if TYPE_CHECKING:
    from mpiddl.comm.mpi import MPICommunicator

__all__ = ["Crew"]


@dataclass(frozen=True)
class _Part:
    """What one rank knows of a job; curve and services are known to the group's first rank."""

    curve: Curve | None
    diverged: bool
    sent: int
    received: int
    digest: str
    trace: Trace | None
    services: Array | None


class Crew:
    """All ranks, ready to make jobs.

    Parameters
    ----------
    comm : MPICommunicator
        The ranks.
    progress : Progress
        What is told of finished jobs.

    Attributes
    ----------
    found : dict
        On rank 0 the outcomes of all jobs so far, by key.
    seconds : dict
        Wall seconds of every stage so far.
    """

    def __init__(self, comm: MPICommunicator, progress: Progress) -> None:
        self.comm, self.progress = comm, progress
        self.found: dict[Hashable, Outcome] = {}
        self.seconds: dict[str, float] = {}
        self._known: set[Hashable] = set()
        self._simulated: dict[Hashable, Made] = {}

    def make(self, title: str, jobs: Sequence[Job]) -> Found:
        """Make `jobs`, which were checked, the same sequence on every rank; collective.

        Returns
        -------
        mapping
            Their outcomes by key on rank 0, empty on the others.
        """
        jobs = list({job.key: job for job in jobs}.values())
        fresh = [job for job in jobs if job.key not in self._known]
        self._known.update(job.key for job in fresh)
        self._simulated |= self._spread(f"{title}, simulated", fresh)
        wanted = [job for job in jobs if job.mpi]
        real, scripts = self._under_mpi(f"{title}, under MPI", wanted)
        again = [
            Job(job.key, replace(job.run, script=scripts[job.key]), job.watched)
            for job in wanted
            if job.key in scripts
        ]
        replays = self._spread(f"{title}, replayed", again)
        if self.comm.rank:
            return {}
        found = {
            job.key: Outcome.of(
                job, self._simulated[job.key], real.get(job.key), replays.get(job.key)
            )
            for job in jobs
        }
        self.found |= found
        return found

    def _spread(self, title: str, jobs: Sequence[Job]) -> Mapping[Hashable, Made]:
        """Simulate `jobs`, every rank some of them; on rank 0 all are returned."""
        if not jobs:
            return {}
        self._begin(title, len(jobs))
        hands = dealt(jobs, self.comm.size)
        mine, made = hands[self.comm.rank], []
        for count, index in enumerate(mine):
            made.append(simulated(jobs[index]))
            done = (len(jobs) * (count + 1)) // len(mine) - (len(jobs) * count) // len(mine)
            self.progress.advance(done)
        everyone = self._gather(title, made)
        if everyone is None:
            return {}
        return {
            jobs[index].key: one
            for hand, theirs in zip(hands, everyone, strict=True)
            for index, one in zip(hand, theirs, strict=True)
        }

    def _under_mpi(
        self, title: str, jobs: Sequence[Job]
    ) -> tuple[Mapping[Hashable, Made], Mapping[Hashable, Script]]:
        """Run `jobs` under MPI: outcomes on rank 0, and on all ranks the scripts of chance."""
        if not jobs:
            return {}, {}
        self._begin(title, len(jobs))
        by_size: defaultdict[int, list[Job]] = defaultdict(list)
        for job in jobs:
            by_size[job.size].append(job)
        parts: list[tuple[Job, _Part]] = []
        for size, batch in sorted(by_size.items(), reverse=True):
            parts += self._side_by_side(size, batch)
        orders = [
            (job.key, _short(part.services))
            for job, part in parts
            if stale(job.run) and part.curve is not None and part.services is not None
        ]
        scripts = {
            key: {place: workers.tolist() for place, workers in order.items()}
            for theirs in self.comm.allgather(orders)
            for key, order in theirs
        }
        everyone = self._gather(title, [(job.key, part) for job, part in parts])
        teams: defaultdict[Hashable, list[_Part]] = defaultdict(list)
        for theirs in everyone or ():
            for key, part in theirs:
                teams[key].append(part)
        return {key: _join(team) for key, team in teams.items()}, scripts

    def _side_by_side(self, size: int, jobs: Sequence[Job]) -> list[tuple[Job, _Part]]:
        """Run jobs of one size in groups; return what this rank knows of its own."""
        groups = self.comm.size // size
        if size == self.comm.size:
            return [(job, self._one(job, self.comm)) for job in jobs]
        group = min(self.comm.rank // size, groups)  # whoever is left over waits in the last
        self.comm.rendezvous()
        with self.comm.split(group) as part:
            mine = jobs[group::groups] if group < groups else ()
            return [(job, self._one(job, part, groups)) for job in mine]

    def _one(self, job: Job, comm: MPICommunicator, groups: int = 1) -> _Part:
        """Run one job on all ranks of `comm`; where nobody is late, no time is spent waiting."""
        planned = job.run if stale(job.run) else replace(job.run, compute=0.0)
        task, log = watched(planned) if job.watched else (planned, None)
        sent, received = comm.traffic.sent.bytes, comm.traffic.received.bytes
        try:
            result, diverged = run(task, comm), False
        except Diverged as error:
            result, diverged = error.result, True  # type: ignore[assignment]
        trace = log.trace(comm.rank, result.x) if log is not None and not diverged else None
        self.progress.advance(groups)
        return _Part(
            result.curve,
            diverged,
            comm.traffic.sent.bytes - sent,
            comm.traffic.received.bytes - received,
            digest(result.x, trace),
            trace,
            result.services if stale(job.run) else None,
        )

    def _begin(self, title: str, parts: int) -> None:
        self.progress.stage(title, parts)
        self._began = time.perf_counter()

    def _gather(self, title: str, mine: list[Any]) -> list[Any] | None:
        """Bring everyone's to rank 0; the stage `title` ends here."""
        everyone = self.comm.gather(mine)
        self.seconds[title] = time.perf_counter() - self._began
        return everyone


def _short(services: Array) -> Mapping[tuple[int, int], np.ndarray[Any, np.dtype[np.int16]]]:
    """Return a script in few bytes."""
    return {place: np.array(order, np.int16) for place, order in script_of(services).items()}


def _join(team: Sequence[_Part]) -> Made:
    """Return what the ranks of one job, in order, know together."""
    assert team[0].curve is not None
    return Made(
        team[0].curve,
        team[0].diverged,
        sum(part.sent for part in team),
        sum(part.received for part in team),
        tuple(part.digest for part in team),
        tuple(part.trace for part in team if part.trace is not None),
        team[0].services,
    )
