"""Staleness-aware asynchronous SGD: the older the model of a gradient, the shorter its step.

Source  Zhang, Gupta, Lian & Liu, "Staleness-aware async-SGD for distributed deep learning", IJCAI
        2016.  arXiv:1511.05950
Paper   x_{t+1} = x_t - (gam / tau) g(x_{t - tau}),   gam if tau = 0
Letters t `taken` | g what a worker said | tau `delay`: updates between reading and writing
Cost    as ps
Differs from the paper: every push is an update, its softsync with as many parts as workers, so tau
counts pushes. 1 / max(1, tau) stands in place of the 1/n of arrivals.py: among workers that are
equally fast tau is n - 1. Displacements of several steps count alike.
"""

from __future__ import annotations

from dataclasses import dataclass

from mpiddl.architecture import Station, architectures
from mpiddl.architecture.arrivals import Arrivals
from mpiddl.architecture.served import Served
from mpiddl.architecture.server import Server
from mpiddl.architecture.shards import Shard
from mpiddl.architecture.stale import require_stale
from mpiddl.compression import Channel
from mpiddl.optim import Seats
from mpiddl.synchronization import Synchronization

__all__ = ["StalenessAware"]


@architectures.register("staleness_aware")
@dataclass(frozen=True, kw_only=True)
class StalenessAware(Served):
    """Agree by servers, to which a push counts the less the more came in since it was begun.

    Parameters
    ----------
    servers, down
        As in `Served`.

    Raises
    ------
    ConfigurationError
        As `Served`.
    """

    def check(self, channel: Channel, seats: Seats, sync: Synchronization, size: int) -> None:
        """Refuse what `Served` does, and a synchronization under which nothing is stale."""
        super().check(channel, seats, sync, size)
        require_stale(self, sync)

    def serve(self, station: Station, shard: Shard, down: Channel) -> Server:
        """Return the server of a shard."""
        return _Server(station, shard, down)


class _Server(Arrivals):
    def move(self, worker: int, delay: int, nbytes: int) -> None:
        self.divide(self.heard(worker, nbytes), max(1, delay), out=self.mean)
        self.outer.apply(self.x, self.mean, self.taken // len(self.clocks))
