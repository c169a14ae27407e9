"""Parameter server: the agreed model lives on servers; workers push, and are answered with it.

Source  Li et al., "Scaling distributed machine learning with the parameter server", OSDI 2014;
        with local:H it is federated averaging: McMahan et al., "Communication-efficient learning
        of deep networks from decentralized data", AISTATS 2017.  arXiv:1602.05629
Paper   worker i:  push D_i;  x_i <- pull.      server:  x <- outer(x, what was pushed)
Letters D_i `lane.delta` through the channel | x_i `lane.x` | x `Server.x`, a shard of the model
Cost    per clock and worker one payload to each server and one answer; none to the own rank
Differs from the paper: a push is answered with the shard, so there is one pull per push. Every
server has a part of every bucket: shards.py. What a push does: rounds.py if s = 0, arrivals.py;
with backup workers backup.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mpiddl.architecture import Station, architectures
from mpiddl.architecture.backup import Backup
from mpiddl.architecture.backup_scripts import require_rounds
from mpiddl.architecture.latecomer import Latecomer
from mpiddl.architecture.served import Served
from mpiddl.architecture.server import Server
from mpiddl.architecture.shards import Shard
from mpiddl.architecture.worker import End
from mpiddl.compression import Channel
from mpiddl.errors import ConfigurationError
from mpiddl.ledger import Script
from mpiddl.optim import Seats
from mpiddl.synchronization import Synchronization

__all__ = ["ParameterServer"]


@architectures.register("ps")
@dataclass(frozen=True, kw_only=True)
class ParameterServer(Served):
    """Agree by servers.

    Parameters
    ----------
    servers, down
        As in `Served`.
    backup : int
        Number b of workers that a round does not wait for, less than the number of workers.

    Raises
    ------
    ConfigurationError
        As `Served`, and if `backup` is not a whole number of at least 0.
    """

    backup: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if type(self.backup) is not int or self.backup < 0:
            raise ConfigurationError(
                f"ps needs a whole number of backup workers of at least 0, found {self.backup!r}: "
                "write ps:backup=1, or leave it out to wait for everyone"
            )

    def check(self, channel: Channel, seats: Seats, sync: Synchronization, size: int) -> None:
        """Refuse what `Served` does, and backup workers where rounds wait for nobody."""
        super().check(channel, seats, sync, size)
        if self.backup and sync.staleness:
            raise ConfigurationError(
                f"under {sync} nobody waits for a round, so there is none to close without "
                f"{self.backup} backup workers: use bsp or local:H, or leave backup out"
            )
        if self.backup and self.backup >= size - self.servers:
            raise ConfigurationError(
                f"a round needs one worker at least, but of {size - self.servers} it waits for all "
                f"but {self.backup}: write a backup below the number of workers"
            )

    def chance(self, sync: Synchronization) -> bool:
        """Return whether clocks may be missing, or who is late for a round is left out."""
        return self.backup > 0 or super().chance(sync)

    def check_script(
        self,
        script: Script,
        spans: Sequence[slice],
        size: int,
        clocks: Sequence[int],
        sync: Synchronization,
    ) -> None:
        """Refuse orders of pushes in which servers cannot take them in."""
        if self.backup:
            require_rounds(script, self.places(spans, size), clocks, self.backup)
        else:
            super().check_script(script, spans, size, clocks, sync)

    def serve(self, station: Station, shard: Shard, down: Channel) -> Server:
        """Return the server of a shard."""
        if self.backup:
            return Backup(station, shard, down, self.backup)
        return super().serve(station, shard, down)

    def work(self, station: Station, shard: Shard, down: Channel, near: Server | None) -> End:
        """Return what a worker keeps for a shard."""
        return (Latecomer if self.backup else End)(station, shard, down, near)
