"""A trial of the theory as a run of mpiddl, and what the run did as arrays for the theory.

Trials are numbers and names. Rank 0 reads them, for `theory.trials` loads sympy; the others are
told a `Spec` each. A broken trial is run for real: shared noise, a lopsided W, a lost memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bench import verify_graphs, verify_pairs, verify_served, verify_views, verify_words
from bench.jobs import Outcome
from bench.wrappers import FrozenNoise, Scattered, SharedNoise
from mpiddl.architecture.allreduce import AllReduce
from mpiddl.architecture.tracking import Tracking
from mpiddl.arrays import Array
from mpiddl.optim import Seats
from mpiddl.optim.momentum import Momentum
from mpiddl.optim.rates import Rate, decreasing
from mpiddl.optim.sgd import SGD
from mpiddl.problems import Problem, problem
from mpiddl.schedule.whole import Whole
from mpiddl.synchronization import Synchronization
from mpiddl.synchronization.bsp import BSP
from mpiddl.synchronization.local import Local
from mpiddl.synchronization.post_local import PostLocal
from mpiddl.synchronization.ssp import SSP
from mpiddl.train import Run
from mpiddl.variant import Variant

__all__ = ["Arrays", "Spec", "arrays", "build"]


@dataclass(frozen=True)
class Spec:
    """What a trial really runs, in the words of `theory.trials.Trial`."""

    problem: str
    options: Mapping[str, Any]
    n: int
    T: int
    H: int
    gam: float
    offset: float | None
    falling: float | None
    mom: float
    after: int
    late: int
    topology: str
    order: str
    compressor: str
    k: int
    memory: bool
    refers: bool
    masks: str
    noise: str
    start: str
    staleness: float | None
    pace: str

    @property
    def ranks(self) -> int:
        """How many it takes: the workers, and the server if there is one."""
        return self.n + (self.staleness is not None)


def build(spec: Spec, seed: int) -> Run:
    """Return the run of a trial with one seed; pure, alike on all ranks.

    Raises
    ------
    ConfigurationError
        If mpiddl has no such part.
    """
    learnt = problem(spec.problem, spec.n, seed, **spec.options)
    apart = spec.start == "apart"
    if apart:
        learnt = Scattered(learnt)
    elif spec.noise == "shared":
        learnt = SharedNoise(learnt)
    elif spec.noise == "frozen":
        learnt = FrozenNoise(learnt)
    if spec.falling is not None:
        learnt = verify_views.Falling(learnt, spec.falling, spec.n)
        spec = replace(spec, gam=1.0)
    if spec.staleness is not None:
        return verify_served.build(spec, learnt, spec.staleness, seed)
    if spec.order == "pairs":
        spec, learnt = replace(spec, gam=spec.gam / spec.n), verify_pairs.turns(spec, learnt, seed)
    rate = 1.0 if apart else _rate(spec, learnt)
    rule = Momentum(rate, beta=spec.mom) if spec.mom else SGD(rate)
    architecture = verify_graphs.architecture(spec, seed)
    channel = verify_words.channel(spec, learnt.layout.size)
    sums = isinstance(architecture, AllReduce | Tracking) and spec.H == 1
    sums = sums and not verify_words.displaces(spec)
    seats = Seats(None, rule) if sums else Seats(rule, SGD(1))
    clocks = spec.after + (spec.T - spec.after) // spec.H
    clocks += apart  # the first one takes the workers apart
    clocks += spec.late + 1 if spec.late else 0  # v_T is where gradients are taken then
    variant = Variant(_synchronization(spec), architecture, channel, Whole(), seats)
    return Run(variant, learnt, clocks, every=clocks)


def _synchronization(spec: Spec) -> Synchronization:
    if spec.late:
        return SSP(spec.late)
    if spec.after:
        return PostLocal(spec.H, after=spec.after)
    return BSP() if spec.H == 1 else Local(spec.H)


def _rate(spec: Spec, learnt: Problem) -> float | Rate:
    if spec.offset is None:
        return spec.gam
    return decreasing(learnt.constants.mu or 0.0, spec.offset)


@dataclass(frozen=True)
class Arrays:
    """What S runs did, in the shapes of `theory.measured.Trajectory`."""

    y: Array
    g: Array
    v: Array
    e: Array | None = None
    said: Array | None = None
    delays: Array | None = None
    misplaced: Array | None = None


def arrays(spec: Spec, outcomes: Sequence[Outcome]) -> Arrays:
    """Return points, gradients, virtual sequence and memories of runs that differ in the seed.

    The virtual sequence is the mean model, in push-sum a weighted one, minus the mean memory, ahead
    by what momenta are going to move it. Workers that start apart do so in their first clock, which
    is left out. Where means come late, gradients of a step are taken at the model of `late` steps
    before.
    """
    if spec.falling is not None:
        y, g, v, wrong = verify_views.observed(spec, outcomes)
        return Arrays(y, g, v, misplaced=wrong)
    if spec.staleness is not None:
        y, g, v, delays = verify_served.observed(outcomes)
        return Arrays(y, g, v, delays=delays)
    first = 1 if spec.start == "apart" else 0
    last = -1 - spec.late if spec.late else None
    y = _stacked([[trace.y for trace in run.traces] for run in outcomes])
    g = _stacked([[trace.g for trace in run.traces] for run in outcomes])
    ends = np.stack([[trace.x for trace in run.traces] for run in outcomes])
    models = np.concatenate((y, ends[:, None]), axis=1)
    v = (models * verify_graphs.weights(spec, y.shape[1])[:, :, None]).mean(axis=2)
    if verify_words.displaces(spec):
        e = _stacked([[trace.e for trace in run.traces] for run in outcomes])
        e = e[:, np.arange(spec.T + 1) // spec.H]  # a memory stays as it is during a round
        return Arrays(y, g, v - e.mean(axis=2), e)
    if spec.compressor != "identity" and spec.H == 1:
        said = _stacked([[trace.said for trace in run.traces] for run in outcomes])
        return Arrays(y, g, v, said=said)
    if spec.mom:
        v[:, 1:] += spec.mom / (1 - spec.mom) * np.diff(v, axis=1)
    return Arrays(y[:, first:last], g[:, first:last], v[:, first + spec.late :][:, : spec.T + 1])


def _stacked(runs: list[list[Array | None]]) -> Array:
    """Return (S, T, n, d) from what each worker of each run wrote down."""
    return np.stack([np.stack([np.asarray(one) for one in run], axis=1) for run in runs])
