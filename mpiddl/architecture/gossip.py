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
step to it. Sums are made in rank order.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import ClassVar

from mpiddl.architecture import Peers, Station, architectures
from mpiddl.architecture.gossip_exchange import GossipExchange
from mpiddl.architecture.mixing import check_mixing
from mpiddl.architecture.topology import Matrix, cycle, find
from mpiddl.compression import Channel
from mpiddl.errors import ConfigurationError
from mpiddl.optim import Seats
from mpiddl.registry import is_number
from mpiddl.replica import Exchange
from mpiddl.synchronization import Synchronization

__all__ = ["Gossip"]


@architectures.register("gossip")
@dataclass(frozen=True)
class Gossip(Peers):
    """Mix with the neighbours.

    Parameters
    ----------
    graph : str
        Name of a topology, a file in `architecture/graphs`, or a path: see `topology.find`.
    gamma : float
        Share of the way to the neighbours' average, in (0, 1].
    order : str
        "atc": adapt, then combine; "cta": combine, then adapt, as Lian et al.

    Raises
    ------
    ConfigurationError
        If there is no such graph, `gamma` is outside (0, 1], or `order` is another word.
    """

    graph: str
    gamma: float = 1.0
    order: str = "atc"

    gradients: ClassVar[bool] = False

    def __post_init__(self) -> None:
        find(str(self.graph))  # refuses an unknown name
        if not is_number(self.gamma) or not 0 < self.gamma <= 1:
            raise ConfigurationError(
                f"gossip mixes a share gamma in (0, 1], found {self.gamma!r}: write "
                f"gossip:{self.graph},gamma=0.2"
            )
        if self.order not in ("atc", "cta"):
            raise ConfigurationError(
                f"gossip knows the orders atc and cta, found {self.order!r}: write "
                f"gossip:{self.graph},order=cta"
            )

    def matrices(self, n: int) -> tuple[Matrix, ...]:
        """Return the mixing matrices W (n, n) that are used in turn."""
        return cycle(find(str(self.graph)), n)

    def check(self, channel: Channel, seats: Seats, sync: Synchronization, size: int) -> None:
        """Refuse what gossip cannot do.

        Raises
        ------
        ConfigurationError
            If clocks may be missing, if the graph does not mix, if models have no inner optimizer,
            or if the channel remembers displacements.
        """
        if sync.staleness:
            raise ConfigurationError(
                f"gossip:{self.graph} mixes models of one clock, but {sync} lets clocks be "
                "missing: use ps with it, or bsp or local:H"
            )
        check_mixing(self.matrices(size), self.graph)
        if seats.inner is None:
            raise ConfigurationError(
                f"gossip:{self.graph} exchanges models, so each worker must move its own: "
                "give it an inner optimizer, as in sgd:0.1>sgd:1"
            )
        if channel.remembers:
            raise ConfigurationError(
                f"gossip:{self.graph} exchanges models, but {channel} remembers displacements: "
                "use allreduce with it, or a channel without memory"
            )

    def agreed(self, size: int) -> str:
        """Return a digest of W, or why there is none: two ranks may read different files."""
        try:
            weights = b"".join(w.tobytes() for w in self.matrices(size))
            return f"weights {sha256(weights).hexdigest()[:16]}"
        except ConfigurationError as refusal:
            return str(refusal)

    def open(self, station: Station) -> Exchange:
        """Return the exchange of one lane."""
        matrices = self.matrices(station.comm.size)
        return GossipExchange(station, matrices, self.gamma, self.order == "cta")
