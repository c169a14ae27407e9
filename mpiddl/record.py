"""Curves: local snapshots during a run, evaluated together afterwards.

Taking a snapshot copies x and reads two counters; nothing is sent, so measuring never
synchronises a run. The evaluation after the last clock uses uncounted messages.

Where servers hold the agreed model, it is theirs that is measured: they report each piece of it at
the moment when it has taken in what belongs to a clock. Otherwise it is the mean of the workers'.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any, NamedTuple

import numpy as np

from mpiddl.arrays import Array, on_host
from mpiddl.comm import Communicator
from mpiddl.comm.collectives import naive
from mpiddl.comm.engine import Task
from mpiddl.ledger import Ledger, Script
from mpiddl.problems import Problem

__all__ = ["COLUMNS", "Curve", "Recorder"]

COLUMNS = (
    "clock",  # agreements so far
    "step",  # gradients per worker so far
    "seconds",  # wall or virtual: on rank 0, or until the last server had its piece
    "bytes",  # sent so far by all ranks together
    "messages",  # the same
    "loss",  # f at the agreed model, or at the mean of the models
    "grad_norm2",  # |grad f|^2 there
    "consensus2",  # mean over workers of |x_i - that|^2
    "distance2",  # |that - x*|^2, NaN where x* is unknown
    "accuracy",  # share of held-out samples that it gets right, NaN where there are none
)


@dataclass(frozen=True)
class Curve:
    """What a run looked like from afar: one row per snapshot, one column per name in COLUMNS."""

    rows: tuple[tuple[float, ...], ...]

    def __getitem__(self, column: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        if column not in COLUMNS:
            raise KeyError(f"no column {column!r}; there are: {', '.join(COLUMNS)}")
        index = COLUMNS.index(column)
        return np.array([row[index] for row in self.rows], dtype=np.float64)

    def as_dict(self) -> dict[str, list[float | None]]:
        """Return the columns as lists, None in place of numbers that are not finite."""
        return {
            name: [value if isfinite(value) else None for value in column]
            for name, column in zip(COLUMNS, zip(*self.rows, strict=True), strict=True)
        }


class _Mark(NamedTuple):
    """When a snapshot was taken, and what this rank had sent by then."""

    seconds: float
    bytes: int
    messages: int


_NOTHING = _Mark(0.0, 0, 0)


class Recorder:
    """Snapshots of one rank, and the services of a server.

    Parameters
    ----------
    every : int
        A snapshot at each clock that `every` divides, and after the last one.
    clocks : sequence of int
        Number of clocks of each worker.
    rank : int
        This rank; a worker if it is less than the number of workers.
    served : bool
        Whether servers hold the agreed model.
    script : mapping or None
        By (lane, server): the workers in the order in which their words are to be taken in;
        None: as they come.
    """

    def __init__(
        self,
        every: int,
        clocks: Sequence[int],
        rank: int,
        served: bool = False,
        script: Script | None = None,
    ) -> None:
        self.clocks, self.served, self.script = tuple(clocks), served, script
        self.ledger = Ledger()
        last = max(self.clocks)
        self.due_clocks = tuple(sorted({*range(0, last, every), last}))
        self.own_clocks = self.clocks[rank] if rank < len(self.clocks) else -1
        ends = Counter(clocks).items()
        self._clock_of = {sum(many * min(c, own) for own, many in ends): c for c in self.due_clocks}
        self._models: dict[int, Array] = {}
        self._pieces: defaultdict[int, list[tuple[slice, Array]]] = defaultdict(list)
        self._marks: dict[int, _Mark] = {}
        self._held: dict[int, float] = {}

    def due(self, clock: int) -> bool:
        """Whether a snapshot belongs at the start of `clock` of this worker."""
        return clock in self.due_clocks or clock == self.own_clocks

    def take(self, clock: int, x: Array, comm: Communicator) -> None:
        """Copy x (d,) and the counts of this worker at the start of `clock`."""
        self._models[clock] = x.copy()
        self._mark(clock, comm)
        if clock == self.own_clocks:
            self._mark(self.due_clocks[-1], comm)  # as a server this rank may still speak

    def hold(self, pushes: int, span: slice, x: Array, comm: Communicator) -> None:
        """Copy a server's piece x (b,) of the agreed model if that is due after `pushes`."""
        clock = self._clock_of.get(pushes)
        if clock is not None:
            self._pieces[clock].append((span, x.copy()))
            self._held[clock] = comm.now()
            if self.own_clocks < 0 or clock == self.due_clocks[-1]:
                self._mark(clock, comm)

    def _mark(self, clock: int, comm: Communicator) -> None:
        sent = comm.traffic.sent
        self._marks[clock] = _Mark(comm.now(), sent.bytes, sent.messages)

    def evaluate(self, problem: Problem, comm: Communicator, period: int) -> Task[Curve | None]:
        """Evaluate all snapshots together; the curve is returned on rank 0.

        Parameters
        ----------
        problem : Problem
            Gives loss and gradient.
        comm : Communicator
            Uncounted; sums are made in rank order, so they are the same in every world.
        period : int
            Steps per clock.
        """
        models = self._own_models(problem.layout.size)
        agreed = self._own_pieces(problem.layout.size) if self.served else models.copy()
        yield from naive.allreduce(comm, agreed.reshape(-1))
        if not self.served:
            agreed /= len(self.clocks)
        sums = np.zeros((3, len(self.due_clocks)))
        if self.own_clocks >= 0:
            sums[0] = ((models - agreed) ** 2).sum(axis=1) / len(self.clocks)
        marks = [_latest(clock, self._marks, _NOTHING) for clock in self.due_clocks]
        sums[1:] = np.array([mark[1:] for mark in marks], dtype=np.float64).T
        sums[1:] -= sums[1:, :1]  # a communicator may have served runs before this one
        yield from naive.allreduce(comm, sums.reshape(-1))
        seconds = np.array([mark.seconds for mark in marks])
        if self.served:
            seconds = yield from self._latest_server(comm)
        if comm.rank != 0:
            return None
        rows = []
        for row, clock in enumerate(self.due_clocks):
            consensus2, *sent = map(float, sums[:, row])
            loss, gradient, distance, accuracy = _measure(problem, agreed[row])
            when = (float(clock), float(clock * period), float(seconds[row] - seconds[0]))
            rows.append((*when, *sent, loss, gradient, consensus2, distance, accuracy))
        return Curve(tuple(rows))

    def _own_models(self, d: int) -> Array:
        """Return the snapshots of this worker (due, d); zeros on a rank that only serves."""
        models = np.zeros((len(self.due_clocks), d))
        if self._models:
            for row, clock in enumerate(self.due_clocks):
                models[row] = on_host(_latest(clock, self._models, None))
            self._models.clear()  # a simulator holds those of all ranks
        return models

    def _own_pieces(self, d: int) -> Array:
        """Return what this rank held of the agreed model (due, d), zeros elsewhere."""
        pieces = np.zeros((len(self.due_clocks), d))
        for row, clock in enumerate(self.due_clocks):
            for span, x in self._pieces[clock]:
                pieces[row, span] = on_host(x)
        return pieces

    def _latest_server(self, comm: Communicator) -> Task[Array]:
        """Return when the last server had its piece, for every snapshot (due,)."""
        held = np.zeros((comm.size, len(self.due_clocks)))
        if self._held:
            held[comm.rank] = [self._held[clock] for clock in self.due_clocks]
        yield from naive.allreduce(comm, held.reshape(-1))
        latest: Array = held.max(axis=0)
        return latest


def _latest(clock: int, kept: dict[int, Any], nothing: Any) -> Any:
    """Return what was kept at `clock`, or before it by a worker that had ended."""
    known = [one for one in kept if one <= clock]
    return kept[max(known)] if known else nothing


def _measure(problem: Problem, x: Array) -> tuple[float, float, float, float]:
    """Return loss, |grad f|^2, |x - x*|^2 and accuracy on held-out samples at x (d,)."""
    gradient = problem.full_gradient(x)
    away = nan if problem.optimum is None else x - problem.optimum
    return (
        float(problem.loss(x)),
        float(gradient @ gradient),
        float(np.dot(away, away)),
        float(getattr(problem, "test_accuracy", lambda x: nan)(x)),
    )
