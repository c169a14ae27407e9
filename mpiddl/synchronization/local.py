"""Local SGD: H steps alone, then everyone speaks.

Source  Stich, "Local SGD converges fast and communicates little", ICLR 2019.  arXiv:1805.09767
Paper   x_i <- x_i - gam g_i(x_i);   if H divides t + 1:  x_i <- mean_j x_j
Letters H `period` | t = clock H + h
Cost    one exchange every H steps
Differs from the paper: what travels is the displacement since the last agreement, not the model;
with the outer seat SGD(1) the two are the same average. A run is a whole number of clocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpiddl.synchronization import Steady, require_steps, synchronizations

__all__ = ["Local"]


@synchronizations.register("local")
@dataclass(frozen=True)
class Local(Steady):
    """`period` steps a clock; a pull waits for this clock of everyone.

    Parameters
    ----------
    period : int
        Number H of local steps, at least 1; H = 1 is BSP.

    Raises
    ------
    ConfigurationError
        If `period` is not a whole number of at least 1.
    """

    period: int

    staleness: ClassVar[float] = 0

    def __post_init__(self) -> None:
        require_steps("local:4", self.period)

    def at_least(self, clock: int) -> int:
        """Return `clock` itself: nothing may be missing."""
        return clock
