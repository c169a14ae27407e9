"""D2: gossip that takes off what workers differ by, so that it reaches the minimum of all.

Source  Tang, Lian, Yan, Zhang & Liu, "D2: decentralized training over decentralized data", ICML
        2018, Algorithm 1.  arXiv:1803.07068
Paper   X_1 = W (X_0 - gam G_0);   X_{t+1} = W (2 X_t - X_{t-1} - gam (G_t - G_{t-1}))
Letters gam G_t: the displacement `lane.delta` of clock t | X_t `lane.anchor` | X_t - gam G_t, where
        a worker would be alone: `lane.x`, of the clock before: `alone` (b,)
        | W (1 - gamma) I + gamma W
Cost    as gossip, and one vector (b,) more
Quality what workers differ by (zeta) does not keep them apart; lambda_min(W) > -1/3 is needed
Differs from the paper: W is (I + W) / 2 unless gamma says more, which suits any W. What is mixed is
X_t - gam G_t + (X_t - alone), which is the paper's sum. The step size may change slowly, as
displacements are remembered, not gradients. Nothing pulls the mean of `X_t - alone` back to 0, so
that rounding adds up: float32 stalls where tracking.py does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mpiddl.architecture import Station, architectures
from mpiddl.architecture.gossip_exchange import GossipExchange
from mpiddl.architecture.mixing import check_mixing
from mpiddl.architecture.models import require_models
from mpiddl.architecture.neighbours import Neighbours
from mpiddl.arrays import Array, namespace
from mpiddl.compression import Channel
from mpiddl.errors import ConfigurationError
from mpiddl.optim import Seats
from mpiddl.replica import Exchange
from mpiddl.synchronization import Synchronization

__all__ = ["D2"]

LEAST = -1 / 3 + 0.02  # at -1/3 the worst mode neither grows nor dies out


@architectures.register("d2")
@dataclass(frozen=True)
class D2(Neighbours):
    """Mix the model that remembers the step before; `gamma` = 1 takes W as it is."""

    gamma: float = 0.5

    gradients: ClassVar[bool] = False

    def check(self, channel: Channel, seats: Seats, sync: Synchronization, size: int) -> None:
        """Refuse what D2 does not stand.

        Raises
        ------
        ConfigurationError
            If W changes, is not symmetric or has too small an eigenvalue; if clocks have several
            steps or may be missing; if models are moved by another outer optimizer than sgd:1, or
            are said in words for displacements.
        """
        self.require_all(sync)
        if sync.period > 1:
            raise ConfigurationError(
                f"{self} takes off what the gradients of one step differ by, and after several "
                f"steps alone workers differ by more: use bsp, or gossip:{self.graph} with {sync}"
            )
        require_models(self, channel, seats)
        if not getattr(seats.outer, "as_it_is", False):
            raise ConfigurationError(
                f"{self} remembers where mixing took it, but {seats.outer} goes elsewhere: write "
                f"{seats.inner}>sgd:1"
            )
        matrices = self.matrices(size)
        if len(matrices) > 1:
            raise ConfigurationError(
                f"{self} needs neighbours that stay, but those of {self.graph} change from clock "
                f"to clock: use exponential,weights=metropolis, or push_sum:{self.graph}"
            )
        check_mixing(matrices, self.graph)
        self._check_eigenvalues(matrices[0])

    def _check_eigenvalues(self, w: Array) -> None:
        if np.abs(w - w.T).max() > 1e-12:
            raise ConfigurationError(
                f"{self} needs W = W^T, but neighbours in {self.graph} hear each other one way: "
                "add weights=metropolis, which links both ways"
            )
        least = 1 - self.gamma + self.gamma * float(np.linalg.eigvalsh(w)[0])
        if least < LEAST:
            raise ConfigurationError(
                f"{self} needs eigenvalues above -1/3 (with a margin, {LEAST:.4f}), but on "
                f"{len(w)} ranks the least is {least:.4f}: use gamma=0.5, which suits any W"
            )

    def open(self, station: Station) -> Exchange:
        """Return the exchange of one lane."""
        return _Exchange(station, self.matrices(station.comm.size), self.gamma, adapt_later=False)


class _Exchange(GossipExchange):
    alone: Array | None = None  # none before the first clock

    def model(self, finite: bool) -> Array:
        lane, xp = self.lane, namespace(self.lane.x)
        if not finite:
            return lane.delta
        if self.alone is None:
            self.alone, self.said = lane.x.copy(), lane.x.copy()
            return self.said
        xp.subtract(lane.anchor, self.alone, out=self.said)
        self.said += lane.x
        self.alone[...] = lane.x
        return self.said
