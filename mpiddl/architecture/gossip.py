"""Gossip: every rank mixes its model with its neighbours'; nobody holds the agreed one.

Source  Lian et al., "Can decentralized algorithms outperform centralized algorithms?", NeurIPS
        2017, Algorithm 1 (D-PSGD).  arXiv:1705.09056;  adapt-then-combine: Sayed, "Adaptation,
        learning, and optimization over networks", 2014;  Koloskova, Stich & Jaggi, "Decentralized
        stochastic optimization and gossip algorithms with compressed communication", ICML 2019,
        Algorithm 2 (CHOCO-SGD).  arXiv:1902.00340
Paper   mix(X)_i = x_i + gamma sum_j W_ij (h_j - h_i);   h_j = what x_j is heard as
        atc:  x_i <- mix(X - gam G(X))_i;    cta:  x_i <- mix(X)_i - gam g_i(X)
Letters gam g_i: the displacement `lane.delta` of a clock | h_j `line.receive` | h_i `line.said`
Cost    per rank and clock one payload to each neighbour, in rotation
Differs from the paper: with h = x and gamma = 1, mix(X) = W X is D-PSGD; with the channel diff+C
and order atc it is CHOCO-SGD, whose references begin at x_0 here; cta says the models before the
step to it. Sums are made in rank order. Where clocks may be missing: stale_gossip.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mpiddl.architecture import Station, architectures
from mpiddl.architecture.gossip_exchange import GossipExchange
from mpiddl.architecture.mixing import check_mixing
from mpiddl.architecture.models import require_models
from mpiddl.architecture.neighbours import Neighbours
from mpiddl.architecture.stale_gossip import StaleGossipExchange
from mpiddl.architecture.stale_scripts import require_versions
from mpiddl.compression import Channel
from mpiddl.errors import ConfigurationError
from mpiddl.ledger import Script
from mpiddl.optim import Seats
from mpiddl.replica import Exchange
from mpiddl.synchronization import Synchronization

__all__ = ["Gossip"]


@architectures.register("gossip")
@dataclass(frozen=True)
class Gossip(Neighbours):
    """Mix with the neighbours; `graph`, `gamma` and `weights` as in neighbours.py.

    Parameters
    ----------
    order : str
        "atc": adapt, then combine; "cta": combine, then adapt, as Lian et al.

    Raises
    ------
    ConfigurationError
        If `order` is another word.
    """

    order: str = "atc"

    gradients: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.order not in ("atc", "cta"):
            raise ConfigurationError(
                f"gossip knows the orders atc and cta, found {self.order!r}: write "
                f"gossip:{self.graph},order=cta"
            )

    def check(self, channel: Channel, seats: Seats, sync: Synchronization, size: int) -> None:
        """Refuse a graph that does not mix, or changes where clocks may be missing.

        Also models that have no inner optimizer, and channels that remember displacements; each
        with a ConfigurationError.
        """
        matrices = self.matrices(size)
        check_mixing(matrices, self.graph)
        if sync.staleness and len(matrices) > 1:
            raise ConfigurationError(
                f"neighbours change from clock to clock in {self.graph}, but {sync} mixes models "
                "of many clocks: use a graph that stays, such as exponential, or bsp"
            )
        require_models(self, channel, seats)

    def check_script(
        self,
        script: Script,
        spans: Sequence[slice],
        size: int,
        clocks: Sequence[int],
        sync: Synchronization,
    ) -> None:
        """Refuse versions of models that are not there when they are to be mixed."""
        require_versions(script, len(spans), self.matrices(size)[0], clocks, sync.at_least)

    def open(self, station: Station) -> Exchange:
        """Return the exchange of one lane."""
        matrices, later = self.matrices(station.comm.size), self.order == "cta"
        if station.sync.staleness:
            return StaleGossipExchange(station, matrices[0], self.gamma, later)
        return GossipExchange(station, matrices, self.gamma, later)
