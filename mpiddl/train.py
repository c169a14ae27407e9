"""The one training loop, and the ways to run it: under MPI and in a simulated world.

`work` knows no variant. It asks the problem for gradients layer by layer; before a layer of x is
read, every lane that holds a part of it is pulled; when the last layer of a lane is ready, the
lane takes it in and, at the last step of a clock, says what changed. All waiting is in `yield`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mpiddl.architecture import Station
from mpiddl.comm import Communicator
from mpiddl.comm.engine import Engine, Task
from mpiddl.compression import Key
from mpiddl.divergence import first_divergence, refuse_divergence
from mpiddl.job import Result, Run
from mpiddl.problems import NEED
from mpiddl.record import Recorder
from mpiddl.replica import Lane, Lanes, Replica, finite

if TYPE_CHECKING:
    from mpiddl.comm.simulated import Network, Span

__all__ = ["Result", "Run", "run", "simulate"]


def program(job: Run, comm: Communicator, engine: Engine) -> Task[Result]:
    """Return the task of one rank: plan, lanes with their exchanges, then `work`, or serve."""
    variant, problem = job.variant, job.problem
    served, chance = variant.architecture.served, variant.left_to_chance
    apart = chance and not served
    accumulate = variant.seats.inner is not None or variant.sync.period > 1
    replica = Replica(problem.start(), accumulate)
    recorder = Recorder(job.snapshots, job.all_clocks, comm.rank, served, job.script)
    lanes = _lanes(job, replica, accumulate)
    for lane in lanes:
        index = lane.bucket.index
        key, where = Key(problem.seed, comm.rank, index), comm.lane(index)
        lane.exchange = variant.architecture.open(
            Station(where, engine, lane, variant.channel, key, variant.sync, recorder)
        )
    lost, heard = None, False
    if comm.rank < problem.workers:
        lost, heard = yield from work(job, comm, replica, lanes, recorder)
    for lane in lanes:
        yield from lane.exchange.close()
    if chance:
        recorder.settle(comm, replica.x if apart else None)
    aside = comm.uncounted()
    diverged = yield from first_divergence(aside, lost, heard)
    curve = yield from recorder.evaluate(problem, aside, variant.sync.start, apart)
    noted = served or chance
    services = (yield from recorder.ledger.collect(aside)) if noted else None
    return Result(replica.x, curve, diverged, services)


def _lanes(job: Run, replica: Replica, accumulate: bool) -> Lanes:
    layout, seats = job.problem.layout, job.variant.seats
    plan = job.variant.schedule.plan(layout, replica.x.itemsize)
    lanes = (Lane(replica, b, layout.within(b.span), seats, accumulate) for b in plan.buckets)
    return Lanes(plan, lanes)


def work(
    job: Run, comm: Communicator, replica: Replica, lanes: Lanes, recorder: Recorder
) -> Task[tuple[int | None, bool]]:
    """Train; return the first clock in which a number was not finite here, or None.

    Also return whether it came from the others. From that clock on this rank computes no gradients
    and says NaN, so that nobody waits in vain and all learn of it by messages that are sent anyway.
    A last model counts for the clock after. The last pull asks for everything.
    """
    sync, clocks = job.variant.sync, job.all_clocks[comm.rank]
    lost: int | None = None
    heard = False
    order: dict[int, Lane] = {}  # lanes as they speak: MPI's own collectives match by order
    early = any(lane.exchange.early for lane in lanes)
    for clock in range(clocks + 1):
        last = clock - 1
        if early or lost is not None or recorder.due(clock):
            for lane in lanes:
                yield from lane.pull(last, last if clock == clocks else sync.at_least(last))
        if recorder.due(clock):
            recorder.take(clock, replica.x, comm)
        if clock == clocks:
            if lost is None and not finite(replica.x):
                return clock, True
            return lost, heard
        if lost is not None:
            for lane in order.values():
                lane.push(clock, lost=True)
        elif all(lane.exchange.closed(clock) for lane in lanes):
            for lane in lanes:
                lane.skip(clock)
        elif not (yield from _clock(job, comm, replica, lanes, clock, order)):
            lost, heard = clock, not finite(replica.anchor)
    return lost, heard


def _clock(
    job: Run,
    comm: Communicator,
    replica: Replica,
    lanes: Lanes,
    clock: int,
    order: dict[int, Lane],
) -> Task[bool]:
    """Make the steps of `clock` and say what changed; return whether all of it is finite.

    Lanes that speak are put into `order`.
    """
    sync, problem, known = job.variant.sync, job.problem, True
    steps, layers, at_least = sync.steps(clock), len(problem.layout.names), sync.at_least(clock - 1)
    for h in range(steps):
        step = sync.start(clock) + h
        batch = problem.batch(comm.rank, step)
        for event, layer in problem.gradient(replica.x, batch, replica.g):
            if event is NEED:
                for lane in lanes.touching(layer):
                    yield from lane.pull(clock - 1, at_least)
                continue
            yield comm.spend(job.seconds(comm.rank, step) / layers)
            for lane in lanes.completed_by(layer):
                lane.absorb(step, h, steps)
                order[lane.bucket.index] = lane
                if h == steps - 1:
                    known &= lane.push(clock)
            yield None  # let what has arrived move on
    return known


def simulate(
    job: Run,
    network: Network | None = None,
    *,
    shuffle: int | None = None,
    trace: list[Span] | None = None,
) -> list[Result]:
    """Run in one process with virtual time; return one result per rank.

    Parameters
    ----------
    job : Run
        What to run, on `job.ranks` ranks.
    network : Network or None
        Latency and bandwidth; None is a network that takes no time.
    shuffle : int or None
        Seed of random delays of all messages; None: none.
    trace : list or None
        Is given a `Span` for every transfer and computation.

    Raises
    ------
    ConfigurationError, Diverged
        As `run`.
    """
    from mpiddl.comm.simulated import Network, World  # only here: ranks under MPI need neither

    size = job.ranks
    job.check(size)
    with np.errstate(over="ignore", invalid="ignore"):  # a run that diverges says so itself
        world = World(size, network or Network(0.0, 0.0), shuffle=shuffle, trace=trace)
        results = world.run(partial(program, job))
    refuse_divergence(job, results[0])
    return results


def run(job: Run, comm: Any = None) -> Result:
    """Run under MPI, on every rank of `comm`; collective.

    Parameters
    ----------
    job : Run
        What to run, the same on every rank.
    comm : MPICommunicator or mpi4py.MPI.Intracomm or None
        The ranks; None is COMM_WORLD.

    Returns
    -------
    Result
        This rank's model; the curve on rank 0.

    Raises
    ------
    ConfigurationError
        On all ranks, before the first message, if the parts do not fit or the ranks disagree.
    Diverged
        On all ranks, after the last clock, if a displacement or a model was not finite.
    """
    from mpiddl.comm.mpi import opened  # only here: the simulator needs no MPI

    with opened(comm) as ours:
        ours.agree("variant, problem, seed, clocks and snapshots", job.signature)
        job.check(ours.size)
        engine = Engine(ours)
        with np.errstate(over="ignore", invalid="ignore"):
            result = engine.run(program(job, ours, engine))
        ours.reconcile()
    refuse_divergence(job, result)
    return result
