"""EASGD: everyone keeps its own model, tied to a common centre by a spring.

Source  Zhang, Choromanska & LeCun, "Deep learning with elastic averaging SGD", NeurIPS 2015,
        equations 2 and 3 (synchronous), Algorithm 1 (asynchronous).  arXiv:1412.6651
Paper   e_i = alpha (x_i - c);   x_i <- x_i - gam g_i - e_i;   c <- c + e_i, with bsp for all i
        at once:  c <- (1 - beta) c + beta mean_i x_i
Letters x_i `lane.x` | c `Server.x`, and where it is told `lane.anchor` | alpha = beta / n
Cost    as ps
Differs from the paper: the spring pulls after the steps of a clock, not at once with its first; g_i
may be that of any optimizer. Both ends take x_i and c as they were said, so the sum of e_i is the
way of c in any words. The server moves against -e_i by its outer optimizer. Under ssp:s a push
counts when it is answered. A server's model is c, so curves are its curves; one worker is not
serial SGD, as c follows it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpiddl.architecture import Station, architectures
from mpiddl.architecture.elastic import ElasticArrivals, ElasticEnd, ElasticRounds
from mpiddl.architecture.models import require_models
from mpiddl.architecture.served import Served
from mpiddl.architecture.server import Server
from mpiddl.architecture.shards import Shard
from mpiddl.architecture.worker import End
from mpiddl.compression import Channel
from mpiddl.errors import ConfigurationError
from mpiddl.optim import Seats
from mpiddl.registry import is_number
from mpiddl.synchronization import Synchronization

__all__ = ["ElasticAveraging"]


@architectures.register("easgd")
@dataclass(frozen=True)
class ElasticAveraging(Served):
    """Agree by servers that hold the centre of the workers' own models.

    Parameters
    ----------
    beta : float
        How far the centre moves to the mean model in a round, in (0, 1]; each worker moves beta/n
        of its way to the centre.
    servers, down
        As in `Served`.

    Raises
    ------
    ConfigurationError
        As `Served`, and if `beta` is outside (0, 1].
    """

    beta: float = 0.9

    gradients: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_number(self.beta) or not 0 < self.beta <= 1:
            raise ConfigurationError(
                f"the centre moves a share beta in (0, 1], found {self.beta!r}: write easgd:0.9"
            )

    def check(self, channel: Channel, seats: Seats, sync: Synchronization, size: int) -> None:
        """Refuse what `Served` does, and words or seats that are not for models."""
        super().check(channel, seats, sync, size)
        require_models(self, channel, seats)

    def serve(self, station: Station, shard: Shard, down: Channel) -> Server:
        """Return the server of a shard."""
        kind = ElasticArrivals if station.sync.staleness else ElasticRounds
        return kind(station, shard, down, self.alpha(station))

    def work(self, station: Station, shard: Shard, down: Channel, near: Server | None) -> End:
        """Return what a worker keeps for a shard."""
        return ElasticEnd(station, shard, down, near, self.alpha(station))

    def alpha(self, station: Station) -> float:
        """Return the share of its way to the centre that a worker moves."""
        return self.beta / len(station.recorder.clocks)
