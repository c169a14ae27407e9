"""Parameter server: the agreed model lives on servers; workers push, and are answered with it.

Source  Li et al., "Scaling distributed machine learning with the parameter server", OSDI 2014;
        with local:H it is federated averaging: McMahan et al., "Communication-efficient learning
        of deep networks from decentralized data", AISTATS 2017.  arXiv:1602.05629
Paper   worker i:  push D_i;  x_i <- pull.      server:  x <- outer(x, what was pushed)
Letters D_i `lane.delta` through the channel | x_i `lane.x` | x `Server.x`, a shard of the model
Cost    per clock and worker one payload to each server and one answer; none to the own rank
Differs from the paper: a push is answered with the shard, so there is one pull per push. Every
server has a part of every bucket: shards.py. What a push does: rounds.py if s = 0, arrivals.py.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from mpiddl.architecture import Station, architectures
from mpiddl.architecture.arrivals import Arrivals
from mpiddl.architecture.rounds import Rounds
from mpiddl.architecture.scripts import require_orders
from mpiddl.architecture.server import Server
from mpiddl.architecture.shards import Shard, shards
from mpiddl.architecture.worker import End
from mpiddl.comm.engine import Wait
from mpiddl.compression import Channel
from mpiddl.compression.channels import parse_channel
from mpiddl.errors import ConfigurationError
from mpiddl.ledger import Script
from mpiddl.optim import Seats
from mpiddl.registry import Described
from mpiddl.replica import Exchange, Lane
from mpiddl.synchronization import Synchronization

__all__ = ["ParameterServer"]


@architectures.register("ps")
@dataclass(frozen=True, kw_only=True)
class ParameterServer(Described):
    """Agree by servers.

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
                f"ps needs a whole number of servers of at least 0, found {self.servers!r}: write "
                "ps:servers=2, or ps where every rank works and serves"
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
                f"parts of them: use ps:servers=1, or seat it inside, as in {seats.outer}>sgd:1"
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
        servers = {
            (lane, one.server): one.rank
            for lane, span in enumerate(spans)
            for one in self.shards(span, size)
        }
        require_orders(script, servers, clocks, sync.at_least)

    def shards(self, span: slice, size: int) -> tuple[Shard, ...]:
        """Return who holds what of the bucket at `span` of the flat vector."""
        return shards(span, self.servers or size, size)

    def open(self, station: Station) -> _Exchange:
        """Return the exchange of one lane: of a worker, a server or both."""
        size, me = station.comm.size, station.comm.rank
        servers, down = self.servers or size, parse_channel(self.down)
        cut = self.shards(station.lane.bucket.span, size)
        serve = Arrivals if station.sync.staleness else Rounds
        own = {one.server: serve(station, one, down) for one in cut if one.rank == me}
        in_turn = sorted(cut, key=lambda one: (one.server - me) % servers)
        works = me < len(station.recorder.clocks)
        ends = [End(station, one, down, own.get(one.server)) for one in in_turn if works]
        return _Exchange(station.lane, ends, list(own.values()))


class _Exchange(Exchange):
    def __init__(self, lane: Lane, ends: list[End], servers: list[Server]) -> None:
        self.lane, self.ends, self.servers = lane, ends, servers

    def push(self, clock: int, finite: bool) -> None:
        for end in self.ends:
            end.push(finite)

    def pull(self, at_least: int) -> Generator[Wait, None, None]:
        yield [end.answer for end in self.ends]  # the servers know who may go on
        for end in self.ends:
            end.pull()
        self.lane.x[...] = self.lane.anchor

    def close(self) -> Generator[Wait, None, None]:
        for server in self.servers:
            yield server.tasks  # done when every push that is to come has been answered
