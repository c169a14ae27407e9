"""What one rank knows of a run under MPI, and what the ranks of a run know together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from bench.jobs import Job, Made
from bench.traces import Trace
from mpiddl.arrays import Array
from mpiddl.curve import Curve
from mpiddl.ledger import script_of

__all__ = ["Part", "joined", "named", "short"]


@dataclass(frozen=True)
class Part:
    """What one rank knows of a job; curve and services are known to the group's first rank."""

    curve: Curve | None
    diverged: bool
    sent: int
    received: int
    digest: str
    trace: Trace | None
    services: Array | None


def named(jobs: Sequence[Job]) -> str:
    """Return what stands for all that ranks must agree on before they run `jobs`."""
    return sha256(repr([job.run.signature for job in jobs]).encode()).hexdigest()


def short(services: Array) -> Mapping[tuple[int, int], np.ndarray[Any, np.dtype[np.int16]]]:
    """Return a script in few bytes."""
    return {place: np.array(order, np.int16) for place, order in script_of(services).items()}


def joined(team: Sequence[Part]) -> Made:
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
