"""Gradient tracking: every rank follows the mean gradient, and moves along it instead of its own.

Source  Di Lorenzo & Scutari, "NEXT: in-network nonconvex optimization", IEEE Trans. Signal Inf.
        Process. Netw., 2016;  Nedic, Olshevsky & Shi, "Achieving geometric convergence for
        distributed optimization over time-varying graphs", SIAM J. Optim., 2017 (DIGing).
        arXiv:1607.03218;  Pu & Nedic, "Distributed stochastic gradient tracking methods", Math.
        Program., 2021.  arXiv:1805.11454
Paper   Y_0 = G_0;   X_{t+1} = W (X_t - gam Y_t);   Y_{t+1} = W Y_t + G_{t+1} - G_t
Letters G_t: the mean gradient `lane.delta` of clock t | Y `heading` (b,) | X_t `lane.anchor`
        | W (1-gamma) I + gamma W | gam: the outer optimizer
Cost    one payload of 2 b entries to each neighbour, in rotation; six vectors (b,) more than gossip
Quality mean Y = mean G, always; what workers differ by (zeta) does not keep them apart
Differs from the paper: x is moved, then mixed (Nedic et al. mix x and move it along Y as it is);
any outer optimizer may take the step. X and Y are said as one vector, so a word that looks at its
size treats them alike. Clocks of H steps take the mean of H gradients at one X.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

from mpiddl.architecture import Station, architectures
from mpiddl.architecture.mixer import Mixer
from mpiddl.architecture.mixing import check_mixing
from mpiddl.architecture.neighbours import Neighbours
from mpiddl.arrays import Array, namespace
from mpiddl.comm.engine import Handle, Wait
from mpiddl.compression import Channel
from mpiddl.errors import ConfigurationError
from mpiddl.optim import Seats
from mpiddl.replica import Exchange
from mpiddl.synchronization import Synchronization

__all__ = ["Tracking"]


@architectures.register("tracking")
@dataclass(frozen=True)
class Tracking(Neighbours):
    """Mix the model and the heading; the outer optimizer moves along the heading before."""

    gradients: ClassVar[bool] = True

    def check(self, channel: Channel, seats: Seats, sync: Synchronization, size: int) -> None:
        """Refuse what tracking cannot do.

        Raises
        ------
        ConfigurationError
            If clocks may be missing, if the graph does not mix, if workers move their models by
            their own gradients, or if the channel remembers displacements.
        """
        self.require_all(sync)
        check_mixing(self.matrices(size), self.graph)
        if channel.remembers:
            raise ConfigurationError(
                f"{self} exchanges models, but {channel} remembers displacements: use allreduce "
                "with it, or a channel without memory"
            )
        if seats.inner is not None:
            raise ConfigurationError(
                f"{self} moves along the mean gradient that it tracks, but {seats.inner} would "
                f"move each worker along its own: seat it outside, as in none>{seats.inner}"
            )

    def open(self, station: Station) -> Exchange:
        """Return the exchange of one lane."""
        return _Exchange(station, self.matrices(station.comm.size), self.gamma)


class _Exchange(Exchange):
    def __init__(self, station: Station, matrices: tuple[Array, ...], gamma: float) -> None:
        self.engine, self.lane = station.engine, station.lane
        x, b = station.lane.x, station.lane.x.size
        self.both = namespace(x).zeros(2 * b, x.dtype)  # as said: model, then heading
        self.both[:b] = x
        self.model, self.heading = self.both[:b], self.both[b:]
        self.mixer = Mixer(station, self.both, matrices, gamma)
        self.before = namespace(x).zeros_like(x)  # the gradient of the clock before
        self.handle: Handle[Array]

    def push(self, clock: int, finite: bool) -> None:
        lane = self.lane
        self.heading += lane.delta
        self.heading -= self.before
        self.before[...] = lane.delta
        self.model[...] = lane.anchor
        lane.outer.apply(self.model, self.heading, clock)
        task = self.mixer.mix(clock, self.both, finite)
        self.handle = self.engine.start(task, f"tracking of clock {clock}")

    def pull(self, at_least: int) -> Generator[Wait, None, None]:
        yield self.handle
        lane, b = self.lane, self.lane.x.size
        self.heading[...] = self.handle.value[b:]
        lane.anchor[...] = self.handle.value[:b]
        lane.x[...] = lane.anchor
