"""All workers are equally fast, always."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from mpiddl.registry import Described
from mpiddl.stragglers import require, stragglers

__all__ = ["Constant"]


@stragglers.register("constant")
@dataclass(frozen=True)
class Constant(Described):
    """A constant.

    Parameters
    ----------
    mean : float
        Seconds S, at least 0.

    Raises
    ------
    ConfigurationError
        If one of them is out of its range.
    """

    mean: float

    def __post_init__(self) -> None:
        require(self, "seconds", self.mean, 0, inf)

    def seconds(self, seed: int, worker: int, step: int) -> float:
        """Return how long a gradient takes, in seconds."""
        return self.mean
