"""Trials where one worker steps at a time and two neighbours meet, as runs in clocks of everyone.

All workers take a gradient, but only the one whose turn it is keeps it, n times as long, and the
others nothing: that is what the theory calls g. Then one pair averages, as in gossip with a graph
of one link. Turns and meetings are drawn before the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.wrappers import Wrapped
from mpiddl.architecture.gossip import Gossip
from mpiddl.architecture.topology import Matrix, cycle, find
from mpiddl.arrays import Array
from mpiddl.compression import Channel
from mpiddl.optim import Seats
from mpiddl.problems import READY, Event, Problem
from mpiddl.synchronization import Synchronization
from theory.events import chances

if TYPE_CHECKING:
    from bench.verify_runs import Spec

__all__ = ["Meetings", "Turns", "meetings", "turns"]


class Turns(Wrapped):
    """A problem where `turns[step]` alone takes its gradient, n times as long."""

    def __init__(self, inner: Problem, turns: Array) -> None:
        super().__init__(inner)
        self.turns = turns

    def batch(self, worker: int, step: int) -> Any:
        """Return the inner batch and the factor of the gradient."""
        return self.inner.batch(worker, step), self.workers * (self.turns[step] == worker)

    def gradient(self, x: Array, batch: Any, out: Array) -> Iterator[tuple[Event, int]]:
        """As `inner`, times the factor."""
        own, factor = batch
        for event, layer in self.inner.gradient(x, own, out):
            if event is READY:
                out[self.layout.span(layer)] *= factor
            yield event, layer


@dataclass(frozen=True)
class Meetings(Gossip):
    """Gossip of one pair a clock, the pairs drawn evenly from the links of `graph`; or of none."""

    clocks: int = 1
    seed: int = 0
    nobody: bool = False

    def matrices(self, n: int) -> tuple[Matrix, ...]:
        """Return W (n, n) of every clock."""
        (links,) = cycle(find(self.graph), n)
        pairs = np.argwhere(np.triu(links, 1) > 0)
        drawn = np.random.default_rng([self.seed, 3]).integers(len(pairs), size=self.clocks)
        found = [np.eye(n) for _ in drawn]
        for w, which in zip(found, drawn, strict=True):
            if not self.nobody:
                w[np.ix_(pairs[which], pairs[which])] = 0.5
        return tuple(found)

    def check(self, channel: Channel, seats: Seats, sync: Synchronization, size: int) -> None:
        """Accept graphs of one link, which do not mix on their own."""


def turns(spec: Spec, learnt: Problem, seed: int) -> Turns:
    """Return the problem of a trial, with turns."""
    stream = np.random.default_rng([seed, 4])
    return Turns(learnt, stream.choice(spec.n, spec.T, p=chances(spec.n, spec.pace)))


def meetings(spec: Spec, seed: int) -> Meetings:
    """Return the meetings of a trial; those of the graph "alone" are none."""
    nobody = spec.topology == "alone"
    graph = "ring" if nobody else spec.topology
    return Meetings(graph, clocks=spec.T, seed=seed, nobody=nobody)
