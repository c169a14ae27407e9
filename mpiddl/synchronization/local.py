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

from mpiddl.errors import ConfigurationError
from mpiddl.registry import Described
from mpiddl.synchronization import synchronizations

__all__ = ["Local"]


@synchronizations.register("local")
@dataclass(frozen=True)
class Local(Described):
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
        if type(self.period) is not int or self.period < 1:
            raise ConfigurationError(
                f"local SGD needs a whole number of steps of at least 1, found {self.period!r}: "
                "write local:4, or bsp for one step"
            )

    def at_least(self, clock: int) -> int:
        """Return `clock` itself: nothing may be missing."""
        return clock
