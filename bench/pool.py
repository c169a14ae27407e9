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

# About how many microseconds a rank of the simulator needs
MESSAGE, USUAL = 20, 8  # for a message; messages of an exchange without servers
SERVED = 45  # for a push, and the answer
DECODED = 10  # for one gathered payload
GRADIENT, ENTRY = 30, 0.1  # for a step, and for each entry of the vector


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
    """Return about how many microseconds the simulator needs for `run`."""
    variant, size, architecture = run.variant, run.ranks, run.variant.architecture
    lanes = len(variant.schedule.plan(run.problem.layout, 8).buckets)
    exchange = float(MESSAGE * USUAL)
    if architecture.served:
        exchange = SERVED * (architecture.servers or size)
    elif architecture.gradients and not variant.channel.compressor.linear:
        exchange += DECODED * size
    steps = variant.sync.period * (GRADIENT + ENTRY * run.problem.layout.size)
    return run.clocks * size * (lanes * exchange + steps)


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
