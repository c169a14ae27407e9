"""Jobs in the simulator: what `bench.crew.Crew` does on all ranks, in one process."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from bench.jobs import Found, Job, Outcome, check
from bench.pool import simulated as simulate


def make(jobs: Sequence[Job]) -> Found:
    check(jobs)
    return {job.key: Outcome.of(job, simulate(job), None, None) for job in jobs}


@pytest.fixture(scope="session")
def simulated() -> Callable[[Sequence[Job]], Found]:
    return make
