"""A variant: one answer to each of the four questions, and who moves.

    bsp / allreduce / ef+topk:0.01 / layerwise / sgd:0.1
    when  with whom   in what words   in what order  how

`Variant.parse` reads that line and `str` prints it. The seats are written INNER>OUTER, as in
``sgd:0.1>sgd:1`` or ``none>sgd:0.1``; a lone ``sgd:0.1`` takes the natural seat: the outer one
where gradients travel (one step a clock, no gossip, no memory), else the inner one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from mpiddl.architecture import Architecture, architectures
from mpiddl.compression import Channel
from mpiddl.compression.channels import parse_channel
from mpiddl.errors import ConfigurationError
from mpiddl.optim import Pair, Rule, Seats, optimizers
from mpiddl.optim.sgd import SGD
from mpiddl.schedule import Schedule, schedules
from mpiddl.synchronization import Synchronization, synchronizations

__all__ = ["Variant", "parse_channel", "split"]

GRAMMAR = "SYNCHRONIZATION / ARCHITECTURE / CHANNEL / SCHEDULE / OPTIMIZER"
EXAMPLE = "bsp / allreduce / ef+topk:0.01 / whole / sgd:0.1"


@dataclass(frozen=True)
class Variant:
    """A distributed SGD algorithm; frozen, the same on every rank."""

    sync: Synchronization
    architecture: Architecture
    channel: Channel
    schedule: Schedule
    seats: Seats

    @classmethod
    def parse(cls, text: str) -> Variant:
        """Build a variant from its line.

        Raises
        ------
        ConfigurationError
            If the line does not have five parts or a part is unknown.
        """
        parts = [part.strip() for part in split(text)]
        if len(parts) != 5:
            raise ConfigurationError(
                f"a variant has five parts, {GRAMMAR}, found {len(parts)} in {text!r}: "
                f"write for example {EXAMPLE!r}"
            )
        sync = synchronizations.parse(parts[0])
        architecture = architectures.parse(parts[1])
        channel = parse_channel(parts[2])
        schedule = schedules.parse(parts[3])
        inner, above, outer = parts[4].rpartition(">")
        if above:
            seats = Seats(
                None if inner.strip() == "none" else optimizers.parse(inner),
                optimizers.parse(outer),
            )
        else:
            seats = natural_seats(sync, architecture, channel, optimizers.parse(outer))
        return cls(sync, architecture, channel, schedule, seats)

    def __str__(self) -> str:
        seats: object = self.seats
        for rule in (self.seats.inner, self.seats.outer):
            if rule and self.seats == natural_seats(
                self.sync, self.architecture, self.channel, rule
            ):
                seats = rule
        parts = (self.sync, self.architecture, self.channel, self.schedule, seats)
        return " / ".join(str(part) for part in parts)

    @property
    def left_to_chance(self) -> bool:
        """Whether a run depends on more than its seed: on what came when."""
        return self.architecture.chance(self.sync)

    def check(self, problem: Any, size: int) -> None:
        """Refuse what cannot work, before any message; pure, so all ranks refuse alike.

        Parameters
        ----------
        problem : Problem
            What is to be learnt.
        size : int
            Number of ranks.

        Raises
        ------
        ConfigurationError
            If two parts disagree; names both and a remedy.
        """
        workers = size - self.architecture.servers
        if workers < 1:
            raise ConfigurationError(
                f"{self.architecture} needs a rank for each server and one for a worker, but there "
                f"are {size} ranks: start more, or use ps, where every rank works and serves"
            )
        if problem.workers != workers:
            raise ConfigurationError(
                f"problem {problem.name} is divided among {problem.workers} workers, but "
                f"{self.architecture} on {size} ranks has {workers}: make it with "
                f"workers={workers}"
            )
        if self.channel.remembers and self.seats.inner is None:
            raise ConfigurationError(
                f"{self.channel} remembers displacements, so the step must be taken before it: "
                f"seat the optimizer inside, as in {self.seats.outer}>sgd:1"
            )
        self._check_seats(problem)
        self.architecture.check(self.channel, self.seats, self.sync, size)

    def _check_seats(self, problem: Any) -> None:
        if isinstance(self.seats.outer, Pair) and self.architecture.served:
            raise ConfigurationError(
                f"{self.seats.outer} sees steps and agreements of a worker, but "
                f"{self.architecture} agrees on its servers: use allreduce or gossip with it"
            )
        for rule in (self.seats.inner, self.seats.outer):
            if getattr(rule, "whole_layers", False) and self._cuts(problem):
                raise ConfigurationError(
                    f"{rule} looks at whole layers, but {self.schedule} cuts them: use whole, "
                    "layerwise or fused"
                )

    def _cuts(self, problem: Any) -> bool:
        """Whether a bucket ends inside a layer."""
        layout, itemsize = problem.layout, np.dtype(problem.dtype).itemsize
        ends = {layout.span(layer).stop for layer in range(len(layout.names))}
        buckets = self.schedule.plan(layout, itemsize).buckets
        return any(bucket.span.stop not in ends for bucket in buckets)


def split(text: str) -> list[str]:
    """Return the parts of a line; slashes without spaces beside them may belong to a path."""
    return re.split(r"\s/\s" if re.search(r"\s/\s", text) else "/", text)


def natural_seats(
    sync: Synchronization, architecture: Architecture, channel: Channel, rule: Rule
) -> Seats:
    """Return the seats that a lone optimizer takes: outer where gradients travel, else inner.

    One that is made for both takes both.
    """
    if isinstance(rule, Pair):
        return Seats(rule, rule)
    gradients = sync.period == 1 and architecture.gradients and not channel.remembers
    return Seats(None, rule) if gradients else Seats(rule, SGD(1))
