"""Room 2, with whom: where the agreed model lives and how the ranks come to agree.

| text                   | variant   | the agreed model | after a pull x is                      |
|------------------------|-----------|------------------|----------------------------------------|
| `allreduce:COLLECTIVE` | AllReduce | on every rank    | moved by the mean of all displacements |
| `gossip:TOPOLOGY`      | Gossip    | nowhere          | mixed with the neighbours' models by W |

An architecture opens one exchange per lane. It knows channels and optimizers only by their
protocols. Reading order: allreduce.py, topology.py, gossip.py.
"""

from __future__ import annotations

from typing import Any, Protocol

from mpiddl.comm import Communicator
from mpiddl.comm.engine import Engine
from mpiddl.compression import Channel, Line
from mpiddl.optim import Seats
from mpiddl.registry import Registry
from mpiddl.replica import Exchange, Lane

__all__ = ["Architecture", "architectures"]


class Architecture(Protocol):
    """A frozen description, e.g. ``Gossip("ring")``."""

    def check(self, channel: Channel, seats: Seats, size: int) -> None:
        """Raise ConfigurationError if this cannot work; pure, the same on every rank."""

    def open(self, comm: Communicator, engine: Engine, lane: Lane, line: Line) -> Exchange:
        """Return the exchange of one lane; `comm` is already the lane's."""


architectures: Registry[Any] = Registry("mpiddl.architecture", "architecture")
