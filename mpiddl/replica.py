"""Who owns the vectors of a worker, and the lanes in which they are exchanged.

    x       (d,) the model at which gradients are taken
    anchor  (d,) the model at the last agreement
    g       (d,) the gradient of this step, written by the problem
    delta   (d,) the displacement of this clock: what the exchange is about

With an inner optimizer a worker moves x and the displacement is anchor - x; without one it is the
mean gradient of the clock, and with one step a clock `delta` *is* `g`. A lane is one bucket of
each; everything with state belongs to a lane, so every algorithm is written for one flat vector.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import Protocol

import numpy as np

from mpiddl.arrays import Array, namespace, on_host
from mpiddl.comm.engine import Wait
from mpiddl.errors import ProtocolError
from mpiddl.layout import Bucket, Plan
from mpiddl.optim import Seats

__all__ = ["Exchange", "Lane", "Lanes", "Replica", "finite"]


class Exchange(Protocol):
    """The live end of an architecture, on one rank, for one lane.

    `early`: it is pulled before a clock begins, not when a layer is needed, as what it hears may
    close that clock.
    """

    early: bool = False

    def push(self, clock: int, finite: bool) -> None:
        """Say what changed in this clock; never blocks. What is not finite bypasses memories."""

    def closed(self, clock: int) -> bool:
        """Return whether the round of `clock` is over without this rank, which may skip it."""
        return False

    def pull(self, at_least: int) -> Generator[Wait, None, None]:
        """Wait until x holds every peer's contributions of clocks <= at_least, and move there.

        Called once per clock. Between steps it alone writes x and anchor, through the outer seat.
        """

    def close(self) -> Generator[Wait, None, None]:
        """Wait until this rank has done all that others expect of it, after its last clock.

        Where the last pull has heard everyone, that is nothing.
        """
        yield from ()


class Replica:
    """The four vectors of one worker, of the kind of the start `x0` (d,).

    With `accumulate` a displacement is more than the gradient of one step.
    """

    def __init__(self, x0: Array, accumulate: bool) -> None:
        xp = namespace(x0)
        self.x, self.anchor = x0.copy(), x0.copy()
        self.g = xp.zeros_like(x0)
        self.delta = xp.zeros_like(x0) if accumulate else self.g


class Lane:
    """All that concerns one bucket on one rank; the vectors (b,) are views into the replica.

    `layers` are the parts of the bucket that belong to one layer each.
    """

    def __init__(
        self,
        replica: Replica,
        bucket: Bucket,
        layers: tuple[slice, ...],
        seats: Seats,
        accumulates: bool,
    ) -> None:
        span = bucket.span
        self.bucket, self.layers, self.seats = bucket, layers, seats
        self.accumulates = accumulates
        self.x, self.anchor = replica.x[span], replica.anchor[span]
        self.g, self.delta = replica.g[span], replica.delta[span]
        self.inner, self.outer = seats.open(self.x, layers)
        self.exchange: Exchange  # given by the architecture, which needs the lane
        self.pushed = self.pulled = -1  # the last clocks that were said, and whose exchange is in x

    def absorb(self, step: int, h: int, steps: int) -> None:
        """Take in the gradient of `step`, the h-th of its clock of so many `steps`."""
        if self.inner is not None:
            self.inner.apply(self.x, self.g, step)
        elif self.accumulates:
            if h == 0:
                self.delta[...] = 0
            self.g /= steps
            self.delta += self.g

    def push(self, clock: int, lost: bool = False) -> bool:
        """Say the displacement of this clock, NaN if `lost`; return whether it is finite."""
        if self.inner is not None:
            namespace(self.x).subtract(self.anchor, self.x, out=self.delta)
        known = not lost and finite(self.delta)
        if not known:
            self.delta[...] = float("nan")  # the others must hear of it, whatever the words
        self.pushed = clock
        self.exchange.push(clock, known)
        return known

    def skip(self, clock: int) -> None:
        """Leave out `clock`, which has gone on without this rank."""
        self.pushed = self.pulled = clock

    def pull(self, clock: int, at_least: int) -> Generator[Wait, None, None]:
        """Bring the exchange of `clock` into x, once; ProtocolError if it was not pushed."""
        if self.pushed < clock:
            layers = ", ".join(map(str, self.bucket.layers))
            raise ProtocolError(f"no gradient announced READY for all of layers {layers}")
        if self.pulled < clock:
            self.pulled = clock
            yield from self.exchange.pull(at_least)


class Lanes:
    """The lanes of a plan, and which of them a layer touches."""

    def __init__(self, plan: Plan, lanes: Iterable[Lane]) -> None:
        self.all = tuple(lanes)
        layers = range(max(bucket.layers.stop for bucket in plan.buckets))
        self._touching = tuple(
            tuple(self.all[bucket.index] for bucket in plan.touching(layer)) for layer in layers
        )
        self._missing = [0] * len(self.all)

    def __iter__(self) -> Iterator[Lane]:
        return iter(self.all)

    def touching(self, layer: int) -> tuple[Lane, ...]:
        """Return the lanes that hold a part of `layer`."""
        return self._touching[layer]

    def completed_by(self, layer: int) -> Iterator[Lane]:
        """Yield the lanes whose layers are all ready, now that `layer` is."""
        for lane in self._touching[layer]:
            index = lane.bucket.index  # 0 missing: a new step begins, all layers are missing
            self._missing[index] = (self._missing[index] or len(lane.bucket.layers)) - 1
            if self._missing[index] == 0:
                yield lane


def finite(v: Array) -> bool:
    """Whether all entries of `v` are finite; one sum decides nearly always."""
    total = on_host(v.sum(keepdims=True))
    return bool(np.isfinite(total[0])) or bool(np.isfinite(on_host(v)).all())
