"""Room 2, with whom: where the agreed model lives and how the ranks come to agree.

| text                   | variant          | agreed model   | after a pull x is                |
|------------------------|------------------|----------------|----------------------------------|
| `allreduce:COLLECTIVE` | AllReduce        | on every rank  | moved by the mean displacement   |
| `allreduce:quorum=Q`   | the same         | on every rank  | the same, Q ranks begin a round  |
| `dynamic:THRESHOLD`    | Dynamic          | on every rank  | the same, or where it was        |
| `ps`, `ps:servers=S`   | ParameterServer  | on the servers | the servers' model               |
| `ps:backup=B`          | the same         | on the servers | the same, rounds close without B |
| `staleness_aware`      | StalenessAware   | on the servers | the servers' model               |
| `dc_asgd:LAM`          | DelayCompensated | on the servers | the servers' model               |
| `easgd:BETA`           | ElasticAveraging | on the servers | drawn to the servers' centre     |
| `gossip:GRAPH`         | Gossip           | nowhere        | mixed with the neighbours' by W  |
| `pairwise:GRAPH`       | Pairwise         | nowhere        | averaged with one neighbour's    |
| `d2:GRAPH`             | D2               | nowhere        | mixed, differences taken off     |
| `tracking:GRAPH`       | Tracking         | nowhere        | mixed, and so is where it heads  |
| `push_sum:GRAPH`       | PushSum          | nowhere        | shared out one way, and divided  |

An architecture opens one exchange per lane, at a station: one rank's side of that lane. It knows
channels and optimizers only by their protocols. Reading order: allreduce.py, means.py,
pipelined.py; quorums.py, calls.py, agreed.py, eager.py; dynamic.py; parameter_server.py and its
parts, served.py, shards.py, worker.py, server.py, rounds.py, turns.py, arrivals.py; then backup.py
and latecomer.py, staleness_aware.py, dc_asgd.py, easgd.py and elastic.py; topology.py, weights.py,
graphs/, mixing.py, neighbours.py, gossip.py, mixer.py, gossip_exchange.py; d2.py, tracking.py;
push_sum.py, sharing.py, weighted.py; stale_gossip.py, heard.py; pairwise.py, pairwise_exchange.py,
meetings.py, gate.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

from mpiddl.architecture.scripts import require_choices
from mpiddl.arrays import Array
from mpiddl.comm import Communicator
from mpiddl.comm.engine import Engine
from mpiddl.compression import Channel, Key, Line
from mpiddl.ledger import Script, Witness
from mpiddl.optim import Seats
from mpiddl.registry import Described, Registry
from mpiddl.replica import Exchange, Lane
from mpiddl.synchronization import Synchronization

__all__ = ["Architecture", "Peers", "Station", "architectures"]


@dataclass(frozen=True)
class Station:
    """One rank's side of one lane: all that an exchange is made of.

    Parameters
    ----------
    comm : Communicator
        The lane's own.
    engine : Engine
        Moves the tasks of this rank.
    lane : Lane
        The vectors (b,) of this rank, and their optimizers.
    channel : Channel
        In what words workers speak.
    key : Key
        Seed, rank and bucket: of all messages spoken here.
    sync : Synchronization
        When workers speak, and how old what they hear may be.
    recorder : Witness
        Is told what a server holds, and whom it served.
    """

    comm: Communicator
    engine: Engine
    lane: Lane
    channel: Channel
    key: Key
    sync: Synchronization
    recorder: Witness

    def line(self, like: Array, start: Array | None = None, shard: int = 0) -> Line:
        """Return a line for vectors like `like` (b,), whose references begin at `start` (b,)."""
        return self.channel.open(like, replace(self.key, shard=shard), start)


class Architecture(Protocol):
    """A frozen description, e.g. ``Gossip("ring")``."""

    @property
    def servers(self) -> int:
        """Ranks that hold no data and only answer: the last ones of a job."""

    @property
    def gradients(self) -> bool:
        """Whether gradients or displacements travel; else models do."""

    @property
    def served(self) -> bool:
        """Whether servers hold the agreed model."""

    def check(self, channel: Channel, seats: Seats, sync: Synchronization, size: int) -> None:
        """Raise ConfigurationError if this cannot work; pure, the same on every rank."""

    def chance(self, sync: Synchronization) -> bool:
        """Return whether a run depends on what came when."""

    def check_script(
        self,
        script: Script,
        spans: Sequence[slice],
        size: int,
        clocks: Sequence[int],
        sync: Synchronization,
    ) -> None:
        """Raise ConfigurationError if a run cannot follow `script`; only asked where chance is.

        Parameters
        ----------
        script : mapping
            By (lane, place): choices, in order.
        spans : sequence of slice
            The buckets, in the flat vector.
        size : int
            Number of ranks.
        clocks : sequence of int
            Number of clocks of each worker.
        sync : Synchronization
            When workers speak.
        """

    def agreed(self, size: int) -> str:
        """Return what ranks must agree on besides the text, such as the contents of a file."""

    def open(self, station: Station) -> Exchange:
        """Return the exchange of one lane on one rank."""


class Peers(Described):
    """What architectures have in common where every rank works and none serves."""

    servers: ClassVar[int] = 0
    served: ClassVar[bool] = False

    def chance(self, sync: Synchronization) -> bool:
        """Return whether clocks may be missing."""
        return sync.staleness > 0

    def check_script(
        self,
        script: Script,
        spans: Sequence[slice],
        size: int,
        clocks: Sequence[int],
        sync: Synchronization,
    ) -> None:
        """Refuse every choice: where all is waited for, there is none."""
        require_choices(script, {})

    def agreed(self, size: int) -> str:
        """Return nothing: the text says all."""
        return ""


architectures: Registry[Any] = Registry("mpiddl.architecture", "architecture")
