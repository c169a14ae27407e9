"""Local SGD with a growing period: speak often while the models move fast, seldom later.

Source  Haddadpour, Kamani, Mahdavi & Cadambe, "Local SGD with periodic averaging: tighter analysis
        and adaptive synchronization", NeurIPS 2019 (periods that grow).  arXiv:1910.13598
Paper   H_1 <= H_2 <= ...;   a round c of H_c local steps, then the average
Letters H_c = min(H, 2^(c // E)) | H `period` | E `every` | c `clock`
Cost    one exchange every H_c steps
Differs from the paper: the period doubles every E rounds up to H; the paper has it grow with the
loss, which nobody knows here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from mpiddl.errors import ConfigurationError
from mpiddl.registry import Described
from mpiddl.synchronization import require_steps, synchronizations

__all__ = ["Growing"]


@synchronizations.register("growing")
@dataclass(frozen=True)
class Growing(Described):
    """1, 2, 4, ... steps a clock, up to `period`; a pull waits for this clock of everyone.

    Parameters
    ----------
    period : int
        Number H of steps of the longest clocks, a power of two.
    every : int
        Number E of clocks after which the period doubles, at least 1.

    Raises
    ------
    ConfigurationError
        If `period` is not a power of two, or `every` is not a whole number of at least 1.
    """

    period: int
    every: int = field(kw_only=True)

    staleness: ClassVar[float] = 0

    def __post_init__(self) -> None:
        require_steps(f"growing:8,every={self.every}", self.period)
        if self.period & (self.period - 1):
            raise ConfigurationError(
                f"the period doubles until it is {self.period}, which is not a power of two: write "
                f"growing:{1 << self.period.bit_length()},every={self.every}"
            )
        if type(self.every) is not int or self.every < 1:
            raise ConfigurationError(
                f"the period doubles after a whole number of clocks of at least 1, found "
                f"{self.every!r}: write growing:{self.period},every=20"
            )

    def steps(self, clock: int) -> int:
        """Return 2^(clock // every), at most `period`."""
        return min(self.period, 1 << (clock // self.every))

    def start(self, clock: int) -> int:
        """Return the first step of `clock`."""
        doublings = min(clock // self.every, self.period.bit_length() - 1)
        return self.every * ((1 << doublings) - 1) + (clock - doublings * self.every << doublings)

    def at_least(self, clock: int) -> int:
        """Return `clock` itself: nothing may be missing."""
        return clock
