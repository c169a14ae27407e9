"""Every gradient takes a time of its own; a few take much longer."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf

from mpiddl.arrays import Purpose, stream
from mpiddl.registry import Described
from mpiddl.stragglers import require, stragglers

__all__ = ["LogNormal"]


@stragglers.register("lognormal")
@dataclass(frozen=True)
class LogNormal(Described):
    """Times are log-normal with mean S: exp(N(log S - sigma^2 / 2, sigma^2)).

    Parameters
    ----------
    mean : float
        Seconds S, at least 0.
    sigma : float
        Standard deviation of the logarithm, at least 0.

    Raises
    ------
    ConfigurationError
        If one of them is out of its range.
    """

    mean: float
    sigma: float = 0.5

    def __post_init__(self) -> None:
        require(self, "seconds", self.mean, 0, inf)
        require(self, "sigma", self.sigma, 0, 10)

    def seconds(self, seed: int, worker: int, step: int) -> float:
        """Return how long a gradient takes, in seconds."""
        normal = stream(seed, Purpose.PACE, worker, step).standard_normal()
        return self.mean * float(exp(self.sigma * normal - self.sigma**2 / 2))
