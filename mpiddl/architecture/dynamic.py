"""Dynamic averaging: workers stay apart until their models are too far from the last agreed one.

Source  Kamp, Boley, Keren, Schuster & Sharfman, "Communication-efficient distributed online
        prediction by dynamic model synchronization", ECML PKDD 2014;  Kamp et al., "Efficient
        decentralized deep learning by dynamic model averaging", ECML PKDD 2018
Paper   if (1/n) sum_j |x_j - r|^2 > Delta:   r, x_1 .. x_n <- (1/n) sum_j x_j
Letters x_j `lane.x` | r `lane.anchor`, the last agreed model | Delta `threshold` | what is averaged
        is r - x_j, `lane.delta`, through the channel
Cost    a clock: an all-reduce of one number; an agreement: one of the displacements, or an
        all-gather of them
Quality the variance of the models is at most Delta after every pull; Delta = 0 is local SGD
Differs from the paper: the mean is agreed on, so all decide alike. There each worker compares its
own |x_j - r|^2 with Delta, and calls the others if it is above: no message while none is, but
averages that the mean does not need. Buckets are agreed on one by one, each compared with Delta.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from mpiddl.architecture import Peers, Station, architectures
from mpiddl.architecture.means import Means
from mpiddl.arrays import Array, on_host
from mpiddl.comm.collectives import allgathers, collective
from mpiddl.comm.collectives.native import require_tags
from mpiddl.comm.engine import Handle, Task, Wait
from mpiddl.compression import Channel
from mpiddl.errors import ConfigurationError
from mpiddl.optim import Seats
from mpiddl.registry import is_number
from mpiddl.replica import Exchange
from mpiddl.synchronization import Synchronization

__all__ = ["Dynamic"]

NUMBER = 1  # tag; that of means is 0


@architectures.register("dynamic")
@dataclass(frozen=True)
class Dynamic(Peers):
    """Agree when it is worth it.

    Parameters
    ----------
    threshold : float
        Delta, at least 0: what the mean of the squared distances may be before all agree.
    collective, gather : str
        As in `AllReduce`.

    Raises
    ------
    ConfigurationError
        If one of them is none.
    """

    threshold: float
    collective: str = field(default="halving_doubling", kw_only=True)
    gather: str = field(default="bruck", kw_only=True)

    gradients: ClassVar[bool] = False  # a worker moves its own model, and may keep it

    def __post_init__(self) -> None:
        if not is_number(self.threshold) or not self.threshold >= 0:
            raise ConfigurationError(
                "dynamic averaging needs a squared distance of at least 0, found "
                f"{self.threshold!r}: write dynamic:0.1"
            )
        collective(str(self.collective))  # refuses an unknown name
        allgathers[str(self.gather)]

    def check(self, channel: Channel, seats: Seats, sync: Synchronization, size: int) -> None:
        """Refuse groups that don't fit, clocks that may be missing, and models that do not move."""
        collective(self.collective, size)
        if sync.staleness:
            raise ConfigurationError(
                f"{self} decides with everyone at each clock, but {sync} lets clocks be missing: "
                "use bsp or local:4 with it"
            )
        if seats.inner is None:
            raise ConfigurationError(
                f"{self} lets workers move on their own, which takes an inner optimizer: write "
                f"{seats.outer}>sgd:1"
            )
        require_tags(self.collective)

    def open(self, station: Station) -> Exchange:
        """Return the exchange of one lane."""
        means = Means(station, collective(self.collective), allgathers[self.gather])
        return _Exchange(station, means, self.threshold)


class _Exchange(Exchange):
    def __init__(self, station: Station, means: Means, threshold: float) -> None:
        self.lane, self.comm, self.engine = station.lane, station.comm, station.engine
        self.means, self.threshold = means, threshold
        self.handle: Handle[Array | None]

    def push(self, clock: int, finite: bool) -> None:
        self.handle = self.engine.start(self._agree(finite), f"variance of clock {clock}")

    def _agree(self, finite: bool) -> Task[Array | None]:
        delta = self.lane.delta
        variance = np.array([float(on_host((delta * delta).sum(keepdims=True))[0])])
        yield from self.means.allreduce(self.comm, variance, NUMBER)
        if variance[0] / self.comm.size <= self.threshold:  # NaN is not: all must hear of it
            return None
        mean = self.means.say(delta, finite)
        yield from mean.travel()
        return (yield from mean.take())

    def pull(self, at_least: int) -> Generator[Wait, None, None]:
        yield self.handle
        if self.handle.value is not None:
            self.lane.outer.apply(self.lane.anchor, self.handle.value, at_least)
            self.lane.x[...] = self.lane.anchor
