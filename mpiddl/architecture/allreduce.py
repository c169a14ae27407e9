"""All-reduce: everyone learns the mean of what everyone says; the model lives on every rank.

Source  Patarasuk & Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
        J. Parallel Distrib. Comput., 2009 (as the architecture of S-SGD)
Paper   D_i = what worker i says at clock t;   mean = (1/n) sum_j D_j;   x <- outer(x, mean)
Letters D_i `lane.delta` through the channel | x `lane.anchor`, then copied to `lane.x`
Cost    payloads that add: one all-reduce of them; others: one all-gather, decoded by all
Differs from the paper: gathered payloads are added in rank order, so all ranks hold the same bits.
Where clocks may be missing, means of all come late (pipelined.py), or are begun by some (eager.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import ClassVar

from mpiddl.architecture import Peers, Station, architectures
from mpiddl.architecture.eager import EagerExchange
from mpiddl.architecture.eager_scripts import require_rounds
from mpiddl.architecture.means import Means
from mpiddl.architecture.pipelined import Pipelined
from mpiddl.architecture.quorums import need, require_eager
from mpiddl.comm.collectives import allgathers, collective
from mpiddl.compression import Channel
from mpiddl.errors import ConfigurationError
from mpiddl.ledger import Script
from mpiddl.optim import Seats
from mpiddl.replica import Exchange
from mpiddl.synchronization import Synchronization

__all__ = ["AllReduce"]

MOST = 4095  # s + 1 means under way need a tag each


@architectures.register("allreduce")
@dataclass(frozen=True)
class AllReduce(Peers):
    """Agree by a collective.

    Parameters
    ----------
    collective : str
        Which all-reduce adds payloads that add: a file in `comm/collectives`, or one with the
        ranks of its groups, as in ``hierarchical:4``.
    gather : str
        Which all-gather brings the others to everyone. They are compressed, so mostly short, and
        messages cost more than bytes: ``bruck`` sends log2 n of them, ``ring`` n - 1.
    quorum : str or int
        Who must have something to say before a mean is taken: ``all``, ``majority``, ``solo`` or
        a number. All but the first need clocks that may be missing.

    Raises
    ------
    ConfigurationError
        If there is no such all-reduce, all-gather or quorum.
    """

    collective: str = "halving_doubling"
    gather: str = "bruck"
    quorum: str | int = field(default="all", kw_only=True)

    gradients: ClassVar[bool] = True

    def __post_init__(self) -> None:
        collective(str(self.collective))  # refuses an unknown name
        allgathers[str(self.gather)]
        need(self.quorum, 1)

    def check(self, channel: Channel, seats: Seats, sync: Synchronization, size: int) -> None:
        """Refuse groups that don't fit, and quorums that don't go with `sync`."""
        collective(self.collective, size)
        if self.quorum != "all":
            require_eager(self, seats, sync, size)
        elif not isfinite(sync.staleness):
            raise ConfigurationError(
                f"a mean of all has to be waited for, but under {sync} nobody waits: write "
                "allreduce:quorum=solo, or use ssp:2 with allreduce"
            )
        elif sync.staleness > MOST:
            raise ConfigurationError(
                f"{sync} has more means under way than there are tags: use ssp:{MOST} at most"
            )

    def chance(self, sync: Synchronization) -> bool:
        """Return whether it counts who is early: a mean of all is the same whoever was."""
        return self.quorum != "all"

    def check_script(
        self,
        script: Script,
        spans: Sequence[slice],
        size: int,
        clocks: Sequence[int],
        sync: Synchronization,
    ) -> None:
        """Refuse rounds and pulls that cannot be."""
        require_rounds(script, len(spans), clocks, sync.at_least)

    def open(self, station: Station) -> Exchange:
        """Return the exchange of one lane."""
        depth = 1 + int(station.sync.staleness) if self.quorum == "all" else 1
        means = Means(station, collective(self.collective), allgathers[self.gather], depth)
        if self.quorum == "all":
            return Pipelined(station, means)
        return EagerExchange(station, means, need(self.quorum, station.comm.size))
