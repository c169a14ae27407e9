"""Curves: local snapshots during a run, evaluated together afterwards.

Taking a snapshot copies x and reads two counters; nothing is sent, so measuring never
synchronises a run. The evaluation after the last clock uses uncounted messages.

Where servers hold the agreed model, it is theirs that is measured: they report each piece of it at
the moment when it has taken in what belongs to a clock. Otherwise it is the mean of the workers':
after the same clock, or, where some may be ahead of others, at the moment when all together have
made as many clocks as if each had made this one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from mpiddl.arrays import Array, on_host
from mpiddl.comm import Communicator
from mpiddl.comm.collectives import naive
from mpiddl.comm.engine import Task
from mpiddl.curve import Curve, measure
from mpiddl.ledger import SHOWN, Ledger, Script
from mpiddl.marks import NOTHING, Mark, due_clocks, last, latest
from mpiddl.problems import Problem

__all__ = ["Recorder"]


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
        self.due_clocks = due_clocks(every, max(self.clocks))
        self.own_clocks = self.clocks[rank] if rank < len(self.clocks) else -1
        ends = Counter(clocks).items()
        self._clock_of = {sum(many * min(c, own) for own, many in ends): c for c in self.due_clocks}
        self._models: dict[int, Array] = {}
        self._pieces: defaultdict[int, list[tuple[slice, Array]]] = defaultdict(list)
        self._marks: dict[int, Mark] = {}
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

    def settle(self, comm: Communicator, x: Array | None) -> None:
        """Count again what this rank sent: it may have answered others since its last clock.

        Also copy x (d,), where it is given, as they may have moved it.
        """
        clock, sent = self.due_clocks[-1], comm.traffic.sent
        if clock in self._marks:  # not where a server holds nothing
            self._marks[clock] = Mark(self._marks[clock].seconds, sent.bytes, sent.messages)
        if x is not None:
            self._models[clock] = x.copy()

    def _mark(self, clock: int, comm: Communicator) -> None:
        sent = comm.traffic.sent
        self._marks[clock] = Mark(comm.now(), sent.bytes, sent.messages)

    def evaluate(
        self, problem: Problem, comm: Communicator, start: Callable[[int], int], apart: bool
    ) -> Task[Curve | None]:
        """Evaluate all snapshots together; the curve is returned on rank 0.

        Parameters
        ----------
        problem : Problem
            Gives loss and gradient.
        comm : Communicator
            Uncounted; sums are made in rank order, so they are the same in every world.
        start : callable
            From a clock to the steps before it.
        apart : bool
            Whether workers may be at different clocks at one moment.
        """
        shown = (yield from self._shown(comm)) if apart else self.due_clocks
        models = self._own_models(problem.layout.size, shown)
        agreed = self._own_pieces(problem.layout.size) if self.served else models.copy()
        yield from naive.allreduce(comm, agreed.reshape(-1))
        if not self.served:
            agreed /= len(self.clocks)
        sums = np.zeros((3, len(self.due_clocks)))
        if self.own_clocks >= 0:
            sums[0] = ((models - agreed) ** 2).sum(axis=1) / len(self.clocks)
        marks = [latest(clock, self._marks, NOTHING) for clock in shown]
        before = latest(0, self._marks, NOTHING)  # a communicator may have served other runs
        sums[1:] = np.array([np.subtract(mark[1:], before[1:]) for mark in marks]).T
        yield from naive.allreduce(comm, sums.reshape(-1))
        seconds = np.array([mark.seconds for mark in marks])
        if self.served:
            seconds = yield from last(comm, [self._held.get(c, 0.0) for c in self.due_clocks])
        elif apart:
            seconds = yield from last(comm, seconds)
        if comm.rank != 0:
            return None
        steps, since = map(start, self.due_clocks), seconds - seconds[0]
        whens = zip(self.due_clocks, steps, since, strict=True)
        return Curve(tuple(_row(problem, *row) for row in zip(whens, sums.T, agreed, strict=True)))

    def _shown(self, comm: Communicator) -> Task[tuple[int, ...]]:
        """Return the clocks of this worker's latest snapshots at the moments of the curve (due,).

        Such a moment is when workers have made as many clocks as if each had made the one that is
        due, as far as snapshots tell; one that has ended is not waited for. Which snapshots those
        are is noted, and a script is followed.
        """
        if self.script is not None:
            shown = [int(clock) for clock in self.script.get((SHOWN, comm.rank), ())]
        else:
            before = yield from self._before(comm)
            shown = [clocks[-1] for clocks in before]
        for due, clock in zip(self.due_clocks, shown, strict=True):
            self.ledger.take_in(SHOWN, comm.rank, clock, comm.rank, due)
        return tuple(shown)

    def _before(self, comm: Communicator) -> Task[list[Array]]:
        """Return the due clocks that this worker had made by each moment of the curve.

        At the first moment all have begun; of what happens at one instant, lower clocks come first.
        """
        marks = np.zeros((len(self.clocks), len(self.due_clocks)))
        counts = np.minimum.outer(self.clocks, self.due_clocks)
        marks[comm.rank] = [self._marks[int(clock)].seconds for clock in counts[comm.rank]]
        yield from naive.allreduce(comm, marks.reshape(-1))
        due = np.broadcast_to(self.due_clocks, marks.shape)
        order = np.lexsort((due.reshape(-1), marks.reshape(-1)))
        place = np.argsort(order).reshape(marks.shape)
        made = np.cumsum(np.diff(counts, axis=1, prepend=0).reshape(-1)[order])
        until = np.searchsorted(made, counts.sum(axis=0)).clip(place[:, 0].max())
        until[-1] = made.size - 1  # in the end all is over
        return [due[comm.rank, place[comm.rank] <= at] for at in until]

    def _own_models(self, d: int, shown: Sequence[int]) -> Array:
        """Return its snapshots of the clocks `shown` (due, d); zeros on a rank that only serves."""
        models = np.zeros((len(self.due_clocks), d))
        if self._models:
            for row, clock in enumerate(shown):
                models[row] = on_host(latest(clock, self._models, None))
            self._models.clear()  # a simulator holds those of all ranks
        return models

    def _own_pieces(self, d: int) -> Array:
        """Return what this rank held of the agreed model (due, d), zeros elsewhere."""
        pieces = np.zeros((len(self.due_clocks), d))
        for row, clock in enumerate(self.due_clocks):
            for span, x in self._pieces[clock]:
                pieces[row, span] = on_host(x)
        return pieces


def _row(problem: Problem, when: Sequence[float], sums: Array, x: Array) -> tuple[float, ...]:
    """Return the row of a curve: when, what was sent, and what x (d,) is worth."""
    consensus2, *sent = map(float, sums)
    loss, gradient, distance, accuracy = measure(problem, x)
    return (*map(float, when), *sent, loss, gradient, consensus2, distance, accuracy)
