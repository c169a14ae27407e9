"""The live end of gossip: say one's model, hear the neighbours', mix; see gossip.py."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from mpiddl.architecture import Station
from mpiddl.architecture.mixer import Mixer, Round
from mpiddl.architecture.topology import Matrix
from mpiddl.arrays import Array, namespace
from mpiddl.comm.engine import Handle, Wait
from mpiddl.replica import Exchange

__all__ = ["GossipExchange", "Mixer", "Round"]


class GossipExchange(Exchange):
    """One lane on one rank, where nothing may be missing.

    Parameters
    ----------
    station : Station
        The rank's side of the lane.
    matrices : sequence of float64 array (n, n)
        Mixing matrices, used in turn.
    gamma : float
        Share of the way to the neighbours' average.
    adapt_later : bool
        Whether models are mixed as they were before the step, which is added afterwards.
    """

    def __init__(
        self, station: Station, matrices: Sequence[Matrix], gamma: float, adapt_later: bool
    ) -> None:
        self.engine, self.lane, self.adapt_later = station.engine, station.lane, adapt_later
        self.mixer = Mixer(station, station.lane.x, matrices, gamma)
        self.part = self.mixer.part
        self.clock = -1  # the last that was said
        self.handle: Handle[Array]

    def push(self, clock: int, finite: bool) -> None:
        """Say the model; if the displacement is not finite, say that."""
        self.clock = clock
        task = self.mixer.mix(clock, self.model(finite), finite)
        self.handle = self.engine.start(task, f"gossip of clock {clock}")

    def pull(self, at_least: int) -> Generator[Wait, None, None]:
        """Wait for the neighbours' models of this clock; move to the mixed one."""
        yield self.handle
        self.move(self.handle.value)

    def model(self, finite: bool) -> Array:
        """Return what is mixed (b,)."""
        if not finite:
            return self.lane.delta
        return self.lane.anchor if self.adapt_later else self.lane.x

    def move(self, mixed: Array) -> None:
        """Move to the model `mixed` (b,)."""
        lane = self.lane
        namespace(lane.x).subtract(lane.anchor, mixed, out=self.part)
        if self.adapt_later:
            self.part += lane.delta
        lane.outer.apply(lane.anchor, self.part, self.clock)
        lane.x[...] = lane.anchor
