"""What architectures have in common whose agreed model lives on servers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mpiddl.architecture import Station
from mpiddl.architecture.arrivals import Arrivals
from mpiddl.architecture.rounds import Rounds
from mpiddl.architecture.scripts import require_orders
from mpiddl.architecture.server import Server
from mpiddl.architecture.shards import Shard, shards
from mpiddl.architecture.worker import End, ServedExchange
from mpiddl.compression import Channel
from mpiddl.compression.channels import parse_channel
from mpiddl.errors import ConfigurationError
from mpiddl.ledger import Script
from mpiddl.optim import Seats
from mpiddl.registry import Described
from mpiddl.replica import Exchange
from mpiddl.synchronization import Synchronization

__all__ = ["Served"]


@dataclass(frozen=True, kw_only=True)
class Served(Described):
    """Agree by servers; subclasses say what one does with a push, and a worker with its answer.

    Parameters
    ----------
    servers : int
        Number of ranks that only serve, the last ones; 0: every rank works and serves.
    down : str
        The channel in which servers answer, such as ``diff+topk:0.1``.

    Raises
    ------
    ConfigurationError
        If `servers` is not a whole number of at least 0, or `down` cannot say models.
    """

    servers: int = 0
    down: str = "identity"

    served: ClassVar[bool] = True
    gradients: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if type(self.servers) is not int or self.servers < 0:
            raise ConfigurationError(
                f"{self.name} needs a whole number of servers of at least 0, found "
                f"{self.servers!r}: write servers=2, or none where every rank works and serves"
            )
        if "," in str(self.down):
            raise ConfigurationError(f"down={self.down}: words here have one option at most")
        if parse_channel(str(self.down)).remembers:
            raise ConfigurationError(
                f"servers answer with models, but {self.down} remembers displacements: say what "
                f"changed, as in down={str(self.down).replace('ef+', 'diff+', 1)}"
            )

    def check(self, channel: Channel, seats: Seats, sync: Synchronization, size: int) -> None:
        """Refuse an outer optimizer that looks at whole layers where shards cut them."""
        if getattr(seats.outer, "whole_layers", False) and (self.servers or size) > 1:
            raise ConfigurationError(
                f"{seats.outer} looks at whole layers, but {self.servers or size} servers hold "
                f"parts of them: use servers=1, or seat it inside, as in {seats.outer}>sgd:1"
            )

    def agreed(self, size: int) -> str:
        """Return nothing."""
        return ""

    def chance(self, sync: Synchronization) -> bool:
        """Return whether clocks may be missing: then the order of pushes counts."""
        return sync.staleness > 0

    def check_script(
        self,
        script: Script,
        spans: Sequence[slice],
        size: int,
        clocks: Sequence[int],
        sync: Synchronization,
    ) -> None:
        """Refuse orders of pushes in which servers cannot take them in."""
        require_orders(script, self.places(spans, size), clocks, sync.at_least)

    def places(self, spans: Sequence[slice], size: int) -> dict[tuple[int, int], int]:
        """Return the rank of each server that holds something, by (lane, server)."""
        return {
            (lane, one.server): one.rank
            for lane, span in enumerate(spans)
            for one in self.shards(span, size)
        }

    def shards(self, span: slice, size: int) -> tuple[Shard, ...]:
        """Return who holds what of the bucket at `span` of the flat vector."""
        return shards(span, self.servers or size, size)

    def serve(self, station: Station, shard: Shard, down: Channel) -> Server:
        """Return the server of a shard, which answers in the words of `down`."""
        return (Arrivals if station.sync.staleness else Rounds)(station, shard, down)

    def work(self, station: Station, shard: Shard, down: Channel, near: Server | None) -> End:
        """Return what a worker keeps for a shard; `near` is its server if that is here."""
        return End(station, shard, down, near)

    def open(self, station: Station) -> Exchange:
        """Return the exchange of one lane: of a worker, a server or both."""
        size, me = station.comm.size, station.comm.rank
        down, cut = parse_channel(self.down), self.shards(station.lane.bucket.span, size)
        own = {one.server: self.serve(station, one, down) for one in cut if one.rank == me}
        in_turn = sorted(cut, key=lambda one: (one.server - me) % (self.servers or size))
        works = me < len(station.recorder.clocks)
        ends = [self.work(station, one, down, own.get(one.server)) for one in in_turn if works]
        return ServedExchange(ends, list(own.values()))
