"""A connected graph in which everyone has D neighbours, drawn at random.

Source  Steger & Wormald, "Generating random regular graphs quickly", Combin. Probab. Comput., 1999:
        two free ends at a time are joined if they may be. Friedman, "A proof of Alon's second
        eigenvalue conjecture", STOC 2003: lam is nearly as small as D neighbours allow,
        (1 + 2 sqrt(D - 1)) / (1 + D) for large n.
The graph follows from n, D and the seed alone. A graph that is not connected is drawn again; of
more than n/2 neighbours the links that are *not* there are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count

import numpy as np

from mpiddl.architecture.mixing import components
from mpiddl.architecture.topology import Matrix, metropolis, topologies
from mpiddl.arrays import Array, Purpose, stream
from mpiddl.errors import ConfigurationError
from mpiddl.registry import Described

__all__ = ["RandomRegular"]


@topologies.register("random_regular")
@dataclass(frozen=True)
class RandomRegular(Described):
    """`degree` neighbours, weights 1/(degree + 1).

    Parameters
    ----------
    degree : int
        Neighbours D of a rank, at least 1.
    seed : int
        Of the drawing, at least 0.

    Raises
    ------
    ConfigurationError
        If one of them is not a whole number, or too small.
    """

    degree: int
    seed: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        whole = type(self.degree) is int and type(self.seed) is int
        if not whole or self.degree < 1 or self.seed < 0:
            raise ConfigurationError(
                f"a regular graph has a whole number of neighbours, at least 1, and a seed of at "
                f"least 0, found {self.degree!r} and {self.seed!r}: write random_regular:4;seed=1"
            )

    def matrix(self, n: int) -> Matrix:
        """Return W (n, n); a rank alone has no neighbours.

        Raises
        ------
        ConfigurationError
            If there is no connected graph of `n` ranks with so many neighbours each.
        """
        if n == 1:
            return np.eye(1)
        if not _possible(n, self.degree):
            allowed = [degree for degree in range(1, n) if _possible(n, degree)]
            nearest = sorted(sorted(allowed, key=lambda degree: abs(degree - self.degree))[:2])
            raise ConfigurationError(
                f"no connected graph of {n} ranks has {self.degree} neighbours a rank (fewer than "
                f"the ranks, an even number of ends, and 1 only for two ranks): use "
                f"{' or '.join(f'random_regular:{degree}' for degree in nearest)}"
            )
        return metropolis(_linked(n, self.degree, self.seed))


@lru_cache(maxsize=16)  # every rank of a simulated world asks for it
def _linked(n: int, degree: int, seed: int) -> Array:
    few = min(degree, n - 1 - degree)
    for attempt in count():
        rng = stream(seed, Purpose.GRAPH, n, degree, attempt)
        linked = _drawn(rng, n, few)
        if linked is None:
            continue
        if few < degree:
            linked = ~linked & ~np.eye(n, dtype=bool)
        if len(components(linked)) == 1:
            return linked
    raise AssertionError("count() has no end")


def _possible(n: int, degree: int) -> bool:
    return degree < n and n * degree % 2 == 0 and (degree > 1 or n == 2)


def _drawn(rng: np.random.Generator, n: int, degree: int) -> Array | None:
    """Return links, bool (n, n), `degree` a rank; None if the last free ends cannot be joined."""
    linked, ends = np.zeros((n, n), bool), np.repeat(np.arange(n), degree)
    while ends.size:
        rng.shuffle(ends)
        left: list[int] = []
        for i, j in ends.reshape(-1, 2).tolist():
            if i == j or linked[i, j]:
                left += i, j
            else:
                linked[i, j] = linked[j, i] = True
        free = sorted(set(left))
        if (linked[np.ix_(free, free)] | np.eye(len(free), dtype=bool)).all() and left:
            return None
        ends = np.array(left, dtype=int)
    return linked
