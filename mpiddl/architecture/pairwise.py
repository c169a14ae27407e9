"""Random pairwise averaging: after its steps a worker meets one neighbour, and waits for no other.

Source  Lian, Zhang, Zhang & Liu, "Asynchronous decentralized parallel stochastic gradient descent",
        ICML 2018, Algorithm 1 (AD-PSGD).  arXiv:1710.06952;  Boyd, Ghosh, Prabhakar & Shah,
        "Randomized gossip algorithms", IEEE Trans. Information Theory, 2006
Paper   x_i <- x_i - gam g_i(x^_i);   j a random neighbour of i;   x_i, x_j <- (x_i + x_j) / 2
Letters x_i the live model of rank i | x^_i `lane.x`, as it was read; x_i may have met others since:
        the staleness of the paper | gam g_i `lane.delta`
Cost    2 messages per worker and clock: its model there, half the difference back; the live model,
        and a box (b,) per neighbour who will ask
Quality The sum of all models is kept to rounding. A meeting undisturbed by others averages two:
        W = W^T W = I - (e_i - e_j)(e_i - e_j)^T / 2, in the mean `matrices`; rho = |E W - J|. If
        all are as fast, edge ij is met with chance 1 / (n deg i) + 1 / (n deg j): on a graph with
        equal degrees all alike, and rho = 1 - lambda_2 / (2 |E|), lambda_2 of its Laplacian. If
        some are faster, their gradients count more, and so do their minima if they differ.
Differs from the paper: nobody is locked, so no graph can have a deadlock: pairwise_exchange.py. A
worker steps, then meets; there the two may overlap. With asp:period=H it meets after H steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, ClassVar

import numpy as np

from mpiddl.architecture import Peers, Station, architectures
from mpiddl.architecture.meetings import partners, require_meetings
from mpiddl.architecture.mixing import check_mixing, digest
from mpiddl.architecture.models import require_exact, require_models
from mpiddl.architecture.pairwise_exchange import PairwiseExchange
from mpiddl.architecture.scripts import REMEDY
from mpiddl.architecture.topology import Matrix, cycle, find
from mpiddl.compression import Channel
from mpiddl.errors import ConfigurationError
from mpiddl.ledger import Script
from mpiddl.optim import Seats
from mpiddl.replica import Exchange
from mpiddl.synchronization import Synchronization

__all__ = ["Pairwise"]


@architectures.register("pairwise")
@dataclass(frozen=True)
class Pairwise(Peers):
    """Meet one random neighbour after each clock.

    `graph` is the name of a topology or a path, see `topology.find`; ConfigurationError if there is
    none. Only its links count, not its weights.
    """

    graph: str

    gradients: ClassVar[bool] = False

    def __post_init__(self) -> None:
        find(str(self.graph))  # refuses an unknown name

    def links(self, n: int) -> Any:
        """Return who may meet whom, bool (n, n) and symmetric, or raise ConfigurationError."""
        ws = cycle(find(str(self.graph)), n)
        linked = (ws[0] != 0) & ~np.eye(n, dtype=bool)
        if len(ws) > 1 or (linked != linked.T).any():
            what = "change from clock to clock" if len(ws) > 1 else "go one way"
            raise ConfigurationError(
                f"{self}: a meeting needs a link both ways that stays, but those of {self.graph} "
                f"on {n} ranks {what}: use another graph, such as ring or complete, or bsp / "
                f"push_sum:{self.graph}"
            )
        return linked

    def matrices(self, n: int) -> tuple[Matrix]:
        """Return E W (n, n), what one meeting does on average."""
        linked = self.links(n)
        asks = linked / (n * np.maximum(linked.sum(axis=1, keepdims=True), 1))
        chance = asks + asks.T
        return (np.eye(n) - (np.diag(chance.sum(axis=1)) - chance) / 2,)

    def check(self, channel: Channel, seats: Seats, sync: Synchronization, size: int) -> None:
        """Refuse, with a ConfigurationError, what cannot be met with, or waited for."""
        if isfinite(sync.staleness):
            raise ConfigurationError(
                f"{self} waits for nobody's clock, so it cannot keep to {sync}: use asp or "
                f"asp:period=4 with it, or gossip:{self.graph} with {sync}"
            )
        check_mixing(self.matrices(size), self.graph)
        require_models(self, channel, seats)
        require_exact(self, channel)

    def check_script(
        self,
        script: Script,
        spans: Sequence[slice],
        size: int,
        clocks: Sequence[int],
        sync: Synchronization,
    ) -> None:
        """Refuse a script of other workers or clocks; `open` knows the seed and looks closer."""
        lanes = range(len(spans))
        own = {(lane, rank): 2 * end for lane in lanes for rank, end in enumerate(clocks)}
        found = {place: Counter(choices)[place[1]] for place, choices in script.items()}
        if found != own:
            raise ConfigurationError(f"the script is not for clocks {tuple(clocks)}: {REMEDY}")

    def agreed(self, size: int) -> str:
        """Return a digest of E W, or why there is none."""
        return digest(self.matrices, size)

    def open(self, station: Station) -> Exchange:
        """Return the exchange of one lane; ConfigurationError if no meetings fit the script."""
        clocks, script = station.recorder.clocks, station.recorder.script
        asked = partners(self.links(len(clocks)), station.key.seed, clocks)
        if script is not None and station.lane.bucket.index == 0:
            require_meetings(script, asked)
        return PairwiseExchange(station, asked)
