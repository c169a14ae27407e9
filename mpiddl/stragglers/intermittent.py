"""Now and then a worker is held up."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from mpiddl.arrays import Purpose, stream
from mpiddl.registry import Described
from mpiddl.stragglers import require, stragglers

__all__ = ["Intermittent"]


@stragglers.register("intermittent")
@dataclass(frozen=True)
class Intermittent(Described):
    """A gradient takes S, or by chance `factor` times as long.

    Parameters
    ----------
    mean : float
        Seconds S of most gradients, at least 0.
    chance : float
        Share of the others, in [0, 1].
    factor : float
        How many times as long they take, at least 1.

    Raises
    ------
    ConfigurationError
        If one of them is out of its range.
    """

    mean: float
    chance: float = 0.1
    factor: float = 10.0

    def __post_init__(self) -> None:
        require(self, "seconds", self.mean, 0, inf)
        require(self, "chance", self.chance, 0, 1)
        require(self, "factor", self.factor, 1, inf)

    def seconds(self, seed: int, worker: int, step: int) -> float:
        """Return how long a gradient takes, in seconds."""
        held_up = stream(seed, Purpose.PACE, worker, step).random() < self.chance
        return self.mean * (self.factor if held_up else 1.0)
