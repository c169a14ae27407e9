"""Trials with a server as runs: one rank more than workers, and one gradient a step.

The server moves by 1/n of what a worker says, so workers step n times as far as the trial says. T
steps are T/n clocks of everyone. Which gradient was taken in when is in the server's ledger.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from bench.jobs import Outcome
from mpiddl.architecture.parameter_server import ParameterServer
from mpiddl.arrays import Array
from mpiddl.compression.direct import Direct
from mpiddl.compression.identity import Identity
from mpiddl.errors import ConfigurationError
from mpiddl.ledger import FIELDS
from mpiddl.optim import Seats
from mpiddl.optim.sgd import SGD
from mpiddl.problems import Problem
from mpiddl.schedule.whole import Whole
from mpiddl.synchronization.asp import ASP
from mpiddl.synchronization.ssp import SSP
from mpiddl.train import Run
from mpiddl.variant import Variant
from theory.events import PACES

if TYPE_CHECKING:
    from bench.verify_runs import Spec

__all__ = ["UNIT", "build", "observed"]

UNIT = 5e-4  # seconds of a gradient that takes the time 1


def build(spec: Spec, learnt: Problem, staleness: float, seed: int) -> Run:
    """Return the run of a trial with a server.

    Raises
    ------
    ConfigurationError
        If its workers cannot all make the same number of clocks.
    """
    if spec.T % spec.n:
        raise ConfigurationError(f"{spec.T} steps cannot be shared by {spec.n} workers")
    sync = SSP(int(staleness)) if isfinite(staleness) else ASP()
    pace, clocks = PACES[spec.pace](spec.n, seed), spec.T // spec.n
    seats = Seats(None, SGD(spec.n * spec.gam))
    variant = Variant(sync, ParameterServer(servers=1), Direct(Identity()), Whole(), seats)
    return Run(
        variant,
        learnt,
        clocks,
        every=clocks,
        compute=lambda worker, step: UNIT * pace(worker, step),
    )


def observed(outcomes: Sequence[Outcome]) -> tuple[Array, Array, Array, Array]:
    """Return y, g (S, T, 1, d), v (S, T + 1, d) and delays (S, T), in the server's order."""
    seen = [_in_order(run) for run in outcomes]
    y, g, v, delays = (np.stack(arrays) for arrays in zip(*seen, strict=True))
    return y[:, :, None], g[:, :, None], v, delays


def _in_order(run: Outcome) -> tuple[Array, Array, Array, Array]:
    assert run.services is not None
    *workers, server = run.traces
    worker, clock, delays = (run.services[:, FIELDS.index(x)] for x in ("worker", "clock", "delay"))
    y, g = (np.stack([getattr(trace, name) for trace in workers]) for name in ("y", "g"))
    assert server.v is not None
    return y[worker, clock], g[worker, clock], np.vstack((y[0, :1], server.v)), delays
