"""How many messages a second of one core the simulator carries."""

from __future__ import annotations

import time

import numpy as np

from bench.speed.measure import Measure, of_repetitions
from mpiddl.comm.collectives import ring
from mpiddl.comm.engine import Engine, Task
from mpiddl.comm.simulated import SimulatedCommunicator, World

__all__ = ["messages"]

RANKS, ENTRIES, REPETITIONS = 64, 1024, 5
LEAST = 20_000  # messages a second


def messages() -> Measure:
    """Return the messages a second of an all-reduce by the ring, in time of this process alone."""
    rates = []
    for _ in range(REPETITIONS):
        world = World(RANKS)
        began = time.process_time()
        world.run(_reduce)
        took = time.process_time() - began
        rates.append(sum(comm.traffic.sent.messages for comm in world.communicators) / took)
    what = f"simulated ring, n = {RANKS}"
    return of_repetitions(what, "messages a second", rates, LEAST, at_least=True)


def _reduce(comm: SimulatedCommunicator, engine: Engine) -> Task[None]:
    return ring.allreduce(comm, np.ones(ENTRIES))
