"""The one training loop, and the ways to run it: under MPI and in a simulated world.

`work` knows no variant. It asks the problem for gradients layer by layer; before a layer of x is
read, every lane that holds a part of it is pulled; when the last layer of a lane is ready, the
lane takes it in and, at the last step of a clock, says what changed. All waiting is in `yield`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mpiddl.arrays import Array
from mpiddl.comm import Communicator
from mpiddl.comm.engine import Engine, Task
from mpiddl.compression import Key
from mpiddl.divergence import first_divergence, refuse_divergence
from mpiddl.errors import ConfigurationError
from mpiddl.problems import NEED, Problem
from mpiddl.record import Curve, Recorder
from mpiddl.replica import Lane, Lanes, Replica
from mpiddl.variant import Variant

if TYPE_CHECKING:
    from mpiddl.comm.simulated import Network

__all__ = ["Result", "Run", "run", "simulate"]


@dataclass(frozen=True)
class Result:
    """What one rank has after a run.

    `x` (d,) is its model, `curve` is None on ranks other than 0, `diverged` is None or the
    (rank, clock) of the first displacement that was not finite.
    """

    x: Array
    curve: Curve | None
    diverged: tuple[int, int] | None


@dataclass(frozen=True)
class Run:
    """Everything that is the same on all ranks of a run.

    Parameters
    ----------
    variant : Variant
        The algorithm.
    problem : Problem
        What is learnt; its seed is the one seed of the run.
    clocks : int
        Number of agreements, at least 1.
    every : int or None
        Clocks between two snapshots; None takes about fifty.
    compute : float
        Virtual seconds of one gradient in the simulator; under MPI gradients take their own time.
    """

    variant: Variant
    problem: Problem
    clocks: int
    every: int | None = None
    compute: float = 0.0

    def check(self, size: int) -> None:
        """Raise ConfigurationError if this cannot run on `size` ranks; pure."""
        if self.clocks < 1:
            raise ConfigurationError(f"a run needs at least 1 clock, found {self.clocks}")
        if self.every is not None and self.every < 1:
            raise ConfigurationError(f"snapshots are 1 clock apart or more, found {self.every}")
        self.variant.check(self.problem, size)

    def program(self, comm: Communicator, engine: Engine) -> Task[Result]:
        """Return the task of one rank: plan, lanes with their lines and exchanges, then `work`."""
        variant, problem = self.variant, self.problem
        period, x0 = variant.sync.period, problem.start()
        replica = Replica(x0, accumulate=variant.seats.inner is not None or period > 1)
        plan = variant.schedule.plan(problem.layout)
        lanes = Lanes(plan, (Lane(replica, b, variant.seats, period) for b in plan.buckets))
        for lane in lanes:
            index = lane.bucket.index
            line = variant.channel.open(lane.x, Key(problem.seed, comm.rank, index))
            lane.exchange = variant.architecture.open(comm.lane(index), engine, lane, line)
        recorder = Recorder(self.every or max(1, self.clocks // 50), self.clocks)
        lost = yield from work(self, comm, replica, lanes, recorder)
        aside = comm.uncounted()
        diverged = yield from first_divergence(aside, lost)
        curve = yield from recorder.evaluate(problem, aside, period)
        return Result(replica.x, curve, diverged)


def work(
    job: Run, comm: Communicator, replica: Replica, lanes: Lanes, recorder: Recorder
) -> Task[int | None]:
    """Train; return the first clock whose displacement was not finite here, or None.

    From that clock on this rank computes no gradients; it goes on saying NaN, so that nobody waits
    for it in vain and everyone learns of it by the messages that the algorithm sends anyway.
    """
    sync, problem = job.variant.sync, job.problem
    lost: int | None = None
    order: dict[int, Lane] = {}  # lanes as they speak: MPI's own collectives match by order
    pause = job.compute / len(problem.layout.names)
    for clock in range(job.clocks + 1):
        last, at_least = clock - 1, sync.at_least(clock - 1)
        if recorder.due(clock) or lost is not None:
            for lane in lanes:
                yield from lane.pull(last, at_least)
        if recorder.due(clock):
            recorder.take(clock, replica.x, comm)
        if clock == job.clocks:
            return lost
        for h in range(sync.period if lost is None else 0):
            step = clock * sync.period + h
            batch = problem.batch(comm.rank, step)
            for event, layer in problem.gradient(replica.x, batch, replica.g):
                if event is NEED:
                    for lane in lanes.touching(layer):
                        yield from lane.pull(last, at_least)
                    continue
                yield comm.spend(pause)
                for lane in lanes.completed_by(layer):
                    lane.absorb(step, h)
                    order[lane.bucket.index] = lane
                    if h == sync.period - 1 and not lane.push(clock) and lost is None:
                        lost = clock
                yield None  # let what has arrived move on
        if lost is not None and lost < clock:
            for lane in order.values():
                lane.push(clock)
    return lost


def simulate(job: Run, network: Network | None = None) -> list[Result]:
    """Run in one process with virtual time; return one result per rank.

    Parameters
    ----------
    job : Run
        What to run; the number of ranks is `job.problem.workers`.
    network : Network or None
        Latency and bandwidth; None is a network that takes no time.

    Raises
    ------
    ConfigurationError, Diverged
        As `run`.
    """
    from mpiddl.comm.simulated import Network, World  # only here: ranks under MPI need neither

    size = job.problem.workers
    job.check(size)
    with np.errstate(over="ignore", invalid="ignore"):  # a run that diverges says so itself
        results = World(size, network or Network(0.0, 0.0)).run(job.program)
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
        On all ranks, after the last clock, if a displacement was not finite.
    """
    from mpiddl.comm.mpi import opened  # only here: the simulator needs no MPI

    with opened(comm) as ours:
        job.check(ours.size)
        ours.agree("variant, problem, seed, clocks and snapshots", _signature(job))
        engine = Engine(ours)
        with np.errstate(over="ignore", invalid="ignore"):
            result = engine.run(job.program(ours, engine))
        ours.reconcile()
    refuse_divergence(job, result)
    return result


def _signature(job: Run) -> tuple[Any, ...]:
    problem = job.problem
    learnt = problem.name, problem.seed, problem.layout.shapes
    return (str(job.variant), *learnt, job.clocks, job.every)
