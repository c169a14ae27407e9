"""Stale synchronous parallel: nobody runs more than s clocks ahead of the slowest.

Source  Ho et al., "More effective distributed ML via a stale synchronous parallel parameter
        server", NeurIPS 2013.
Paper   a worker at clock c reads a model that holds all updates of clocks < c - s, all its own,
        and perhaps some later ones
Letters s `staleness` | c `clock` + 1: the pull after `clock` reads for the next one
Cost    one exchange every H steps, H `period`
Differs from the paper: there is no cache; every clock is pulled once, and the pull waits until
the contributions of clocks <= `clock` - s of everyone are in. A worker that has ended counts as
infinitely far ahead. s = 0 is BSP: clocks are averaged, not applied as they come.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mpiddl.errors import ConfigurationError
from mpiddl.synchronization import Steady, require_steps, synchronizations

__all__ = ["SSP"]


@synchronizations.register("ssp")
@dataclass(frozen=True)
class SSP(Steady):
    """A pull waits for everyone up to `staleness` clocks ago.

    Parameters
    ----------
    staleness : int
        Number s of clocks, at least 0.
    period : int
        Number H of steps in a clock, at least 1.

    Raises
    ------
    ConfigurationError
        If one of them is not a whole number, or too small.
    """

    staleness: int
    period: int = field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        require_steps(f"ssp:{self.staleness},period=4", self.period)
        if type(self.staleness) is not int or self.staleness < 0:
            raise ConfigurationError(
                f"ssp needs a whole number of clocks of at least 0, found {self.staleness!r}: "
                "write ssp:4, or asp for no limit"
            )

    def at_least(self, clock: int) -> int:
        """Return the clock `staleness` before `clock`."""
        return clock - self.staleness
