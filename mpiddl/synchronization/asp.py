"""Asynchronous parallel: everyone speaks when done with a clock, and waits for nobody.

Source  Recht, Re, Wright & Niu, "Hogwild!", NeurIPS 2011.  arXiv:1106.5730;  Dean et al., "Large
        scale distributed deep networks", NeurIPS 2012 (Downpour SGD)
Paper   x_{t+1} = x_t - gam g(x_{t - tau_t})
Letters t counts contributions, of whomever they are | tau_t what came between reading and writing
Cost    one exchange every H steps, H `period`
Differs from the paper: as in Downpour, whose workers fetch as often as they push here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import ClassVar

from mpiddl.synchronization import Steady, require_steps, synchronizations

__all__ = ["ASP"]


@synchronizations.register("asp")
@dataclass(frozen=True)
class ASP(Steady):
    """A pull waits for nobody.

    Parameters
    ----------
    period : int
        Number H of steps in a clock, at least 1.

    Raises
    ------
    ConfigurationError
        If `period` is not a whole number of at least 1.
    """

    period: int = field(default=1, kw_only=True)

    staleness: ClassVar[float] = inf

    def __post_init__(self) -> None:
        require_steps("asp:period=4", self.period)

    def at_least(self, clock: int) -> int:
        """Return -1: nothing need be in."""
        return -1
