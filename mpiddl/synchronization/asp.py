"""Asynchronous parallel: everyone speaks after every step and waits for nobody.

Source  Recht, Re, Wright & Niu, "Hogwild!", NeurIPS 2011.  arXiv:1106.5730;  Dean et al., "Large
        scale distributed deep networks", NeurIPS 2012 (Downpour SGD)
Paper   x_{t+1} = x_t - gam g(x_{t - tau_t})
Letters t counts contributions, of whomever they are | tau_t what came between reading and writing
Cost    one exchange a step
Differs from the paper: as in Downpour with one step between fetches.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

from mpiddl.registry import Described
from mpiddl.synchronization import synchronizations

__all__ = ["ASP"]


@synchronizations.register("asp")
@dataclass(frozen=True)
class ASP(Described):
    """One step a clock; a pull waits for nobody."""

    period: ClassVar[int] = 1
    staleness: ClassVar[float] = inf

    def at_least(self, clock: int) -> int:
        """Return -1: nothing need be in."""
        return -1
