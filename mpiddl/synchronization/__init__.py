"""Room 1, when: how many steps a worker takes before it speaks, and whom it then waits for.

| text      | variant | a clock is | a pull waits for the contributions of                   |
|-----------|---------|------------|---------------------------------------------------------|
| `bsp`     | BSP     | one step   | this clock, from all to whom the architecture listens   |
| `local:H` | Local   | H steps    | the same                                                |
| `ssp:s`   | SSP     | one step   | the clocks up to s before this one; `ssp:0` is BSP      |
| `asp`     | ASP     | one step   | nobody else: it brings what has come                    |

A synchronization never sees a message: it only says how many steps make a clock and which clock
the exchange must have reached. Where nothing may be missing (staleness 0) the contributions of a
clock are averaged before anybody moves; otherwise each one counts when it comes. Reading order:
bsp.py, local.py, ssp.py, asp.py.
"""

from __future__ import annotations

from typing import Any, Protocol

from mpiddl.registry import Registry

__all__ = ["Synchronization", "synchronizations"]


class Synchronization(Protocol):
    """When workers speak."""

    @property
    def period(self) -> int:
        """Number H of steps in a clock."""

    @property
    def staleness(self) -> float:
        """Number s of clocks of which contributions may be missing after a pull; inf: any."""

    def at_least(self, clock: int) -> int:
        """Return the clock up to which everyone's contributions must be in after a pull."""


synchronizations: Registry[Any] = Registry("mpiddl.synchronization", "synchronization")
