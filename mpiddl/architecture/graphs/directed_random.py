"""Links one way, drawn at random: for push-sum, which needs nobody to be heard by all it hears.

A one-way ring, i + 1 hears i, so that everyone hears of everyone; and each other link one way with
probability P. Ranks are heard by different numbers of ranks, so that no weights that a rank could
choose alone are doubly stochastic: P is column-stochastic, everyone shares out equally what it has.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mpiddl.architecture.topology import Matrix, topologies
from mpiddl.architecture.weights import shares
from mpiddl.arrays import Purpose, stream
from mpiddl.errors import ConfigurationError
from mpiddl.registry import Described, is_number

__all__ = ["DirectedRandom"]


@topologies.register("directed_random")
@dataclass(frozen=True)
class DirectedRandom(Described):
    """A one-way ring and more links one way; rows do not add up to 1: `push_sum` only.

    Parameters
    ----------
    chance : float
        Probability of each link besides the ring, in [0, 1].
    seed : int
        Of the drawing, at least 0.

    Raises
    ------
    ConfigurationError
        If `chance` is outside [0, 1], or `seed` is not a whole number of at least 0.
    """

    chance: float
    seed: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        share = is_number(self.chance) and 0 <= self.chance <= 1
        if not share or type(self.seed) is not int or self.seed < 0:
            raise ConfigurationError(
                f"links are drawn with a probability in [0, 1] and a seed of at least 0, found "
                f"{self.chance!r} and {self.seed!r}: write directed_random:0.2;seed=1"
            )

    def matrix(self, n: int) -> Matrix:
        """Return the column-stochastic matrix (n, n)."""
        rng = stream(self.seed, Purpose.GRAPH, n)
        linked = rng.random((n, n)) < self.chance
        linked[(np.arange(n) + 1) % n, np.arange(n)] = True
        np.fill_diagonal(linked, False)
        return shares(linked)
