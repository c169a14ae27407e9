"""Problems and channels that behave as others, except for one thing: what is watched, or broken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from bench.traces import Log
from mpiddl.arrays import Array, Purpose, stream
from mpiddl.compression import Channel, Compressor, Key, Line
from mpiddl.compression.identity import Identity
from mpiddl.optim import Optimizer, Rule
from mpiddl.problems import READY, Constants, Event, Problem
from mpiddl.train import Run

__all__ = ["FrozenNoise", "Scattered", "SharedNoise", "Wrapped", "watched"]


class Wrapped:
    """A problem that does all that `inner` does."""

    def __init__(self, inner: Problem) -> None:
        self.inner = inner
        self.name, self.workers, self.seed = inner.name, inner.workers, inner.seed
        self.layout, self.dtype, self.options = inner.layout, inner.dtype, inner.options

    @cached_property
    def constants(self) -> Constants:
        """The constants of all f_i."""
        return self.inner.constants

    @cached_property
    def optimum(self) -> Array | None:
        """The minimiser x* (d,), or None."""
        return self.inner.optimum

    def start(self) -> Array:
        """Return x0 (d,)."""
        return self.inner.start()

    def batch(self, worker: int, step: int) -> Any:
        """Return what `gradient` needs."""
        return self.inner.batch(worker, step)

    def gradient(self, x: Array, batch: Any, out: Array) -> Iterator[tuple[Event, int]]:
        """Write the stochastic gradient at `x` (d,) into `out` (d,), announcing layers."""
        yield from self.inner.gradient(x, batch, out)

    def loss(self, x: Array) -> float:
        """Return f(x)."""
        return self.inner.loss(x)

    def full_gradient(self, x: Array, worker: int | None = None) -> Array:
        """Return grad f(x) or grad f_i(x), (d,)."""
        return self.inner.full_gradient(x, worker)

    def noise2(self, x: Array) -> float:
        """Return the variance of the gradients at `x`."""
        return self.inner.noise2(x)

    def test_accuracy(self, x: Array) -> float:
        """Return the share of held-out samples that `x` gets right, or nan."""
        return self.inner.test_accuracy(x)


class SharedNoise(Wrapped):
    """Broken: all workers draw the noise, or the rows, of worker 0."""

    def batch(self, worker: int, step: int) -> Any:
        """Return the noise of worker 0 with this worker's own shift, or the rows of worker 0."""
        drawn = self.inner.batch(0, step)
        if not isinstance(drawn, np.ndarray):
            return drawn
        x = self.start()
        own = self.full_gradient(x, worker) - self.full_gradient(x, 0)
        return drawn + own


class FrozenNoise(Wrapped):
    """Broken: every step draws the noise of step 0."""

    def batch(self, worker: int, step: int) -> Any:
        """Return what `gradient` needed at step 0."""
        return self.inner.batch(worker, 0)


class Scattered(Wrapped):
    """Pure averaging: the first gradient sends every worker elsewhere, the others are 0.

    With step size 1 worker i stands at x0 - z_i before the first exchange, z_i ~ N(0, I).
    """

    def batch(self, worker: int, step: int) -> Array:
        """Return z_i at step 0, then zeros; (d,)."""
        if step:
            return np.zeros(self.layout.size)
        return stream(self.seed, Purpose.START, worker).standard_normal(self.layout.size)

    def gradient(self, x: Array, batch: Array, out: Array) -> Iterator[tuple[Event, int]]:
        """Write `batch` (d,) into `out` (d,)."""
        for event, layer in self.inner.gradient(x, np.zeros_like(batch), out):
            if event is READY:
                span = self.layout.span(layer)
                out[span] = batch[span]
            yield event, layer


class Watched(Wrapped):
    """A problem whose gradients, and the points where they were taken, are written down."""

    def __init__(self, inner: Problem, log: Log) -> None:
        super().__init__(inner)
        self.log = log

    def batch(self, worker: int, step: int) -> Any:
        """Return the inner batch, and who will use it."""
        return worker, self.inner.batch(worker, step)

    def gradient(self, x: Array, batch: Any, out: Array) -> Iterator[tuple[Event, int]]:
        """As `inner`; x is whole and unmoved when the first layer is ready."""
        worker, own = batch
        y, g = self.log.y[worker], self.log.g[worker]
        first = True
        for event, layer in self.inner.gradient(x, own, out):
            if event is READY:
                if first:
                    y.append(x.copy())
                    g.append(np.empty_like(out))
                    first = False
                span = self.layout.span(layer)
                g[-1][span] = out[span]
            yield event, layer


@dataclass(frozen=True)
class WatchedChannel:
    """A channel whose memory, or what was said, is written down after every message."""

    inner: Channel
    log: Log = field(compare=False)

    @property
    def compressor(self) -> Compressor:
        """What turns vectors into bytes."""
        return self.inner.compressor

    @property
    def remembers(self) -> bool:
        """Whether what is not said now is said later."""
        return self.inner.remembers

    def __str__(self) -> str:
        return str(self.inner)

    @property
    def refers(self) -> bool:
        """Whether both ends keep what is believed of the speaker."""
        return self.inner.refers

    def open(self, like: Array, key: Key, start: Array | None = None) -> Line:
        """Return the line of `inner`, watched."""
        line: Any = self.inner.open(like, key, start)
        send, log = line.send, self.log.e if self.remembers else self.log.said

        def watched_send(v: Array) -> Array:
            payload: Array = send(v)
            log[key.speaker].append((line.memory if self.remembers else line.said()).copy())
            return payload

        if self.remembers or not isinstance(self.compressor, Identity):
            line.send = watched_send
        opened: Line = line
        return opened


@dataclass(frozen=True)
class WatchedRule:
    """A rule that writes down every vector that it has moved."""

    inner: Rule
    log: Log = field(compare=False)

    @property
    def whole_layers(self) -> bool:
        """Whether a layer that is cut into two vectors would change it."""
        return self.inner.whole_layers

    def __str__(self) -> str:
        return str(self.inner)

    def open(self, like: Array, layers: tuple[slice, ...]) -> Optimizer:
        """Return the optimizer of `inner`, watched."""
        optimizer: Any = self.inner.open(like, layers)
        apply = optimizer.apply

        def watched_apply(x: Array, direction: Array, t: int) -> None:
            apply(x, direction, t)
            self.log.v.append(x.copy())

        optimizer.apply = watched_apply
        opened: Optimizer = optimizer
        return opened


def watched(run: Run) -> tuple[Run, Log]:
    """Return `run` with a log of what its workers and its server do, if there is one.

    The vector must travel in one piece, and there must be one server at most.
    """
    log, seats = Log(), run.variant.seats
    variant = replace(run.variant, channel=WatchedChannel(run.variant.channel, log))
    if run.variant.architecture.servers == 1:
        rule: Any = WatchedRule(seats.outer, log)
        variant = replace(variant, seats=replace(seats, outer=rule))
    return replace(run, variant=variant, problem=Watched(run.problem, log)), log
