"""Simulating on all ranks: every job is one process's, and the cores are shared out by jobs.

Which rank makes what is fixed beforehand, the longest jobs first, so nothing has to be asked.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Sequence
from functools import partial
from heapq import heapify, heapreplace

import numpy as np

from bench.jobs import Job, Made, digest, stale
from bench.wrappers import watched
from mpiddl.comm.simulated import Network, World
from mpiddl.train import Run, program

__all__ = ["dealt", "simulated"]

USUAL = 8  # messages of a rank in an exchange without servers, about


def simulated(job: Job) -> Made:
    """Return what the simulator makes of `job`."""
    task, log = watched(job.run) if job.watched else (job.run, None)
    world = World(job.size, job.network or Network(0.0, 0.0))
    with np.errstate(over="ignore", invalid="ignore"):  # a run that diverges says so itself
        results = world.run(partial(program, task))
    diverged = results[0].diverged is not None
    traces = [
        log.trace(rank, result.x) if log and not diverged else None
        for rank, result in enumerate(results)
    ]
    curve, traffic = results[0].curve, [comm.traffic for comm in world.communicators]
    assert curve is not None
    del world
    _tidy()
    return Made(
        curve,
        diverged,
        sum(one.sent.bytes for one in traffic),
        sum(one.received.bytes for one in traffic),
        tuple(digest(result.x, trace) for result, trace in zip(results, traces, strict=True)),
        tuple(trace for trace in traces if trace is not None),
        results[0].services if stale(job.run) else None,  # else they say nothing, at length
    )


def _tidy() -> None:
    """Give back the memory of a world: it is full of cycles, and there are many ranks."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:  # glibc keeps what is free, elsewhere it need not be asked
        trim(0)


def effort(run: Run) -> float:
    """Return about how long `run` takes, in units of one message."""
    variant, size = run.variant, run.ranks
    lanes = len(variant.schedule.plan(run.problem.layout, 8).buckets)
    peers = (variant.architecture.servers or size) if variant.architecture.served else USUAL
    return run.clocks * size * (lanes * peers + variant.sync.period)


def dealt(jobs: Sequence[Job], ranks: int) -> list[list[int]]:
    """Return by rank the indices of the jobs that it makes, in order; the same on every rank."""
    hands: list[list[int]] = [[] for _ in range(ranks)]
    load = [(0.0, rank) for rank in range(ranks)]
    heapify(load)
    efforts = [effort(job.run) for job in jobs]
    for index in sorted(range(len(jobs)), key=lambda index: -efforts[index]):
        taken, rank = load[0]
        hands[rank].append(index)
        heapreplace(load, (taken + efforts[index], rank))
    return hands
