"""One worker is slow, always."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from mpiddl.errors import ConfigurationError
from mpiddl.registry import Described
from mpiddl.stragglers import require, stragglers

__all__ = ["Slow"]


@stragglers.register("slow")
@dataclass(frozen=True)
class Slow(Described):
    """One worker takes `factor` times as long as the others.

    Parameters
    ----------
    mean : float
        Seconds S of the others, at least 0.
    worker : int
        Which one.
    factor : float
        How many times as long it takes, at least 1.

    Raises
    ------
    ConfigurationError
        If one of them is out of its range.
    """

    mean: float
    worker: int = 0
    factor: float = 4.0

    def __post_init__(self) -> None:
        require(self, "seconds", self.mean, 0, inf)
        require(self, "worker", self.worker, 0, inf)
        require(self, "factor", self.factor, 1, inf)
        if type(self.worker) is not int:
            raise ConfigurationError(
                f"the worker that is slow is a whole number, found {self.worker!r}: write for "
                "example slow:1e-3,worker=1"
            )

    def seconds(self, seed: int, worker: int, step: int) -> float:
        """Return how long a gradient takes, in seconds."""
        return self.mean * (self.factor if worker == self.worker else 1.0)
