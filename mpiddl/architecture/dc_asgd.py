"""DC-ASGD: what a gradient at an old model misses is made up for to first order.

Source  Zheng et al., "Asynchronous stochastic gradient descent with delay compensation", ICML
        2017, Algorithm 2 and section 5.  arXiv:1609.08326
Paper   x_{t+1} = x_t - gam (g_i + lam_t g_i * g_i * (x_t - b_i));   b_i <- x_{t+1}, told to i
        DC-ASGD-c: lam_t = lam;   DC-ASGD-a: lam_t = lam / sqrt(m_t + 1e-7) entry by entry,
        m_t = decay m_{t-1} + (1 - decay) g_i * g_i
Letters g_i what worker i said | b_i `told_to[i]` | m_t `square`; * is entry by entry
Cost    as ps; a server remembers a shard for every worker
Differs from the paper: a gradient counts 1/n, as in arrivals.py. b_i is what worker i was told, in
whatever words.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite

from mpiddl.architecture import Station, architectures
from mpiddl.architecture.arrivals import Arrivals
from mpiddl.architecture.served import Served
from mpiddl.architecture.server import Server
from mpiddl.architecture.shards import Shard
from mpiddl.architecture.stale import require_gradients, require_stale
from mpiddl.arrays import Array, namespace
from mpiddl.comm import Request
from mpiddl.compression import Channel, Line
from mpiddl.errors import ConfigurationError
from mpiddl.optim import Seats
from mpiddl.registry import is_number
from mpiddl.synchronization import Synchronization

__all__ = ["DelayCompensated"]


@architectures.register("dc_asgd")
@dataclass(frozen=True)
class DelayCompensated(Served):
    """Agree by servers that correct late gradients.

    Parameters
    ----------
    lam : float
        How much of the correction is made, at least 0; 0 is ps.
    decay : float
        How long squares of gradients are remembered, in [0, 1); 0: lam is constant.
    servers, down
        As in `Served`.

    Raises
    ------
    ConfigurationError
        As `Served`, and if `lam` or `decay` is not such a number.
    """

    lam: float = 0.04
    decay: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_number(self.lam) or not (isfinite(self.lam) and self.lam >= 0):
            raise ConfigurationError(
                f"dc_asgd needs a finite number of at least 0, found {self.lam!r}: write "
                "dc_asgd:0.04"
            )
        if not is_number(self.decay) or not 0 <= self.decay < 1:
            raise ConfigurationError(
                f"dc_asgd remembers squares with a decay in [0, 1), found {self.decay!r}: write "
                f"dc_asgd:{self.lam},decay=0.95"
            )

    def check(self, channel: Channel, seats: Seats, sync: Synchronization, size: int) -> None:
        """Refuse what `Served` does, what is never late, and what is no gradient."""
        super().check(channel, seats, sync, size)
        require_stale(self, sync)
        require_gradients(self, channel, seats)

    def serve(self, station: Station, shard: Shard, down: Channel) -> Server:
        """Return the server of a shard."""
        return _Server(station, shard, down, self)


class _Server(Arrivals):
    def __init__(self, station: Station, shard: Shard, down: Channel, of: DelayCompensated) -> None:
        super().__init__(station, shard, down)
        xp = namespace(self.x)
        self.of = of
        self.told_to = [self.x.copy() for _ in self.clocks]
        self.square, self.scratch = xp.zeros_like(self.x), xp.empty_like(self.x)

    def move(self, worker: int, delay: int, nbytes: int) -> None:
        xp, n, g = namespace(self.x), len(self.clocks), self.heard(worker, nbytes)
        xp.subtract(self.x, self.told_to[worker], out=self.mean)
        xp.multiply(g, g, out=self.scratch)
        self.mean *= self.scratch
        self.mean *= self.of.lam
        if self.of.decay:
            self._adapt()
        self.mean += g
        self.mean /= n
        self.outer.apply(self.x, self.mean, self.taken // n)

    def _adapt(self) -> None:
        """Divide by the root of the mean square; `scratch` is the new square."""
        self.square *= self.of.decay
        self.scratch *= 1 - self.of.decay
        self.square += self.scratch
        self.scratch[...] = self.square
        self.scratch += 1e-7
        namespace(self.x).sqrt(self.scratch, out=self.scratch)
        self.mean /= self.scratch

    def answer(
        self, worker: int, row: list[int], missing: int, line: Line, payload: Array
    ) -> Request:
        self.told_to[worker][...] = line.said()
        return super().answer(worker, row, missing, line, payload)
