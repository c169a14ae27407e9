"""Room 1, when: how many steps a worker takes before it speaks, and whom it then waits for.

| text      | variant | a clock is | a pull returns when                                         |
|-----------|---------|------------|-------------------------------------------------------------|
| `bsp`     | BSP     | one step   | this clock is in of all whom the architecture listens to    |
| `local:H` | Local   | H steps    | the same                                                    |

A synchronization never sees a message: it only says how many steps make a clock and which clock
the exchange must have reached. Reading order: bsp.py, local.py.
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

    def at_least(self, clock: int) -> int:
        """Return the clock up to which everyone's contributions must be in after a pull."""


synchronizations: Registry[Any] = Registry("mpiddl.synchronization", "synchronization")
