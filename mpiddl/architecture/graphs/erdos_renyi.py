"""A random graph: any two ranks are linked with probability P.

Source  Erdos & Renyi, "On random graphs I", Publ. Math. Debrecen, 1959;  Gilbert, "Random graphs",
        Ann. Math. Stat., 1959 (each link on its own)
The graph follows from n, P and the seed alone. One that is not connected is drawn again; with P
below ln n / n that is nearly always so, and after so many attempts it is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log

import numpy as np

from mpiddl.architecture.mixing import components
from mpiddl.architecture.topology import Matrix, metropolis, topologies
from mpiddl.arrays import Purpose, stream
from mpiddl.errors import ConfigurationError
from mpiddl.registry import Described, is_number

__all__ = ["ErdosRenyi"]

ATTEMPTS = 50


@topologies.register("erdos_renyi")
@dataclass(frozen=True)
class ErdosRenyi(Described):
    """Each link with probability `chance`, Metropolis weights.

    Parameters
    ----------
    chance : float
        Probability P of a link, in (0, 1].
    seed : int
        Of the drawing, at least 0.

    Raises
    ------
    ConfigurationError
        If `chance` is outside (0, 1], or `seed` is not a whole number of at least 0.
    """

    chance: float
    seed: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        share = is_number(self.chance) and 0 < self.chance <= 1
        if not share or type(self.seed) is not int or self.seed < 0:
            raise ConfigurationError(
                f"a random graph has a probability of links in (0, 1] and a seed of at least 0, "
                f"found {self.chance!r} and {self.seed!r}: write erdos_renyi:0.3;seed=1"
            )

    def matrix(self, n: int) -> Matrix:
        """Return W (n, n).

        Raises
        ------
        ConfigurationError
            If so few links connect `n` ranks in none of many attempts.
        """
        for attempt in range(ATTEMPTS):
            rng = stream(self.seed, Purpose.GRAPH, n, attempt)
            upper = np.triu(rng.random((n, n)) < self.chance, 1)
            linked = upper | upper.T
            if len(components(linked)) == 1:
                return metropolis(linked)
        raise ConfigurationError(
            f"links with probability {self.chance} connect {n} ranks in none of {ATTEMPTS} "
            f"drawings: use one well above ln n / n = {log(n) / n:.2g}, or random_regular:4"
        )
