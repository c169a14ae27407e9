"""Bulk synchronous parallel: everyone speaks after every step and waits for all.

Source  Valiant, "A bridging model for parallel computation", Communications of the ACM, 1990.
Paper   superstep t:  compute;  communicate;  barrier
Letters t `clock`
Cost    one exchange a step
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpiddl.synchronization import Steady, synchronizations

__all__ = ["BSP"]


@synchronizations.register("bsp")
@dataclass(frozen=True)
class BSP(Steady):
    """One step a clock; a pull waits for this clock of everyone."""

    period: ClassVar[int] = 1
    staleness: ClassVar[float] = 0

    def at_least(self, clock: int) -> int:
        """Return `clock` itself: nothing may be missing."""
        return clock
