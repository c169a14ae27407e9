"""All ranks, making jobs: in the simulator, each rank some of them, then under MPI, together.

Jobs that need fewer ranks than there are run side by side, in groups of their size. A run in which
chance decides who comes first is made again in the simulator, in the order that was written down.
What came out arrives on rank 0 alone.
"""

from __future__ import annotations

import gc
import time
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.console import Progress
from bench.jobs import Found, Job, Made, Outcome, digest, stale
from bench.parts import Part, joined, named, short
from bench.pool import dealt, simulated
from bench.wrappers import watched
from mpiddl.comm.engine import Engine
from mpiddl.ledger import Script
from mpiddl.train import program

if TYPE_CHECKING:
    from mpiddl.comm.mpi import MPICommunicator

__all__ = ["Crew"]


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
        gc.freeze()  # what is there now stays: tidying up after a job need not look at it

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
        parts: list[tuple[Job, Part]] = []
        for size, batch in sorted(by_size.items(), reverse=True):
            parts += self._side_by_side(size, batch)
        orders = [
            (job.key, short(part.services))
            for job, part in parts
            if stale(job.run) and part.curve is not None and part.services is not None
        ]
        scripts = {
            key: {place: workers.tolist() for place, workers in order.items()}
            for theirs in self.comm.allgather(orders)
            for key, order in theirs
        }
        everyone = self._gather(title, [(job.key, part) for job, part in parts])
        teams: defaultdict[Hashable, list[Part]] = defaultdict(list)
        for theirs in everyone or ():
            for key, part in theirs:
                teams[key].append(part)
        return {key: joined(team) for key, team in teams.items()}, scripts

    def _side_by_side(self, size: int, jobs: Sequence[Job]) -> list[tuple[Job, Part]]:
        """Run jobs of one size in groups; return what this rank knows of its own."""
        groups = self.comm.size // size
        self.comm.agree(f"the runs on {size} ranks", named(jobs))
        if size == self.comm.size:
            return self._one_by_one(jobs, self.comm, 1)
        group = min(self.comm.rank // size, groups)  # whoever is left over waits in the last
        with self.comm.split(group) as part:
            return self._one_by_one(jobs[group::groups] if group < groups else (), part, groups)

    def _one_by_one(
        self, jobs: Sequence[Job], comm: MPICommunicator, groups: int
    ) -> list[tuple[Job, Part]]:
        """Run jobs on `comm` as `mpiddl.run` does, but agree before and reconcile after them all.

        Where 32 ranks share two cores, meeting takes as long as a short run.
        """
        done = [(job, self._one(job, comm, groups)) for job in jobs]
        comm.reconcile()
        return done

    def _one(self, job: Job, comm: MPICommunicator, groups: int) -> Part:
        """Run one job on all ranks of `comm`; where nobody is late, no time is spent waiting."""
        planned = job.run if stale(job.run) else replace(job.run, compute=0.0)
        task, log = watched(planned) if job.watched else (planned, None)
        sent, received = comm.traffic.sent.bytes, comm.traffic.received.bytes
        engine = Engine(comm)
        with np.errstate(over="ignore", invalid="ignore"):  # a run that diverges says so itself
            result = engine.run(program(task, comm, engine))
        diverged = result.diverged is not None
        trace = log.trace(comm.rank, result.x) if log is not None and not diverged else None
        self.progress.advance(groups)
        return Part(
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
