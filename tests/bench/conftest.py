"""Jobs in the simulator: what `bench.jobs.Crew` does under MPI, in one process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pytest

from bench.jobs import Found, Job, Outcome
from bench.wrappers import watched
from mpiddl.comm.simulated import Network, World
from mpiddl.train import program


def make(jobs: Sequence[Job]) -> Found:
    found = {}
    for job in jobs:
        job.run.check(job.size)
        task, log = watched(job.run) if job.watched else (job.run, None)
        world = World(job.size, Network(0.0, 0.0))
        with np.errstate(all="ignore"):
            results = world.run(partial(program, task))
        traffic = [comm.traffic for comm in world.communicators]
        found[job.key] = Outcome(
            job,
            results[0].curve,
            results[0].diverged is not None,
            sum(one.sent.bytes for one in traffic),
            sum(one.received.bytes for one in traffic),
            tuple(log.trace(rank, result.x) for rank, result in enumerate(results)) if log else (),
            results[0].services,
        )
    return found


@pytest.fixture(scope="session")
def simulated() -> Callable[[Sequence[Job]], Found]:
    return make
