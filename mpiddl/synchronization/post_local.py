"""Post-local SGD: one step a clock in the beginning, H steps later.

Source  Lin, Stich, Patel & Jaggi, "Don't use large mini-batches, use local SGD", ICLR 2020.
        arXiv:1808.07217
Paper   t < T':  mini-batch SGD;   t >= T':  local SGD with H steps
Letters H `period` | T' `after`
Cost    one exchange a step for T' steps, then one every H steps
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from mpiddl.errors import ConfigurationError
from mpiddl.registry import Described
from mpiddl.synchronization import require_steps, synchronizations

__all__ = ["PostLocal"]


@synchronizations.register("post_local")
@dataclass(frozen=True)
class PostLocal(Described):
    """One step a clock, then `period` steps; a pull waits for this clock of everyone.

    Parameters
    ----------
    period : int
        Number H of steps of a later clock, at least 1.
    after : int
        Number T' of clocks of one step, at least 0.

    Raises
    ------
    ConfigurationError
        If one of them is not a whole number, or too small.
    """

    period: int
    after: int = field(kw_only=True)

    staleness: ClassVar[float] = 0

    def __post_init__(self) -> None:
        require_steps(f"post_local:4,after={self.after}", self.period)
        if type(self.after) is not int or self.after < 0:
            raise ConfigurationError(
                "post-local SGD begins with a whole number of single steps of at least 0, found "
                f"{self.after!r}: write post_local:{self.period},after=100"
            )

    def steps(self, clock: int) -> int:
        """Return 1 for the first `after` clocks, then `period`."""
        return 1 if clock < self.after else self.period

    def start(self, clock: int) -> int:
        """Return the first step of `clock`."""
        return min(clock, self.after) + max(clock - self.after, 0) * self.period

    def at_least(self, clock: int) -> int:
        """Return `clock` itself: nothing may be missing."""
        return clock
