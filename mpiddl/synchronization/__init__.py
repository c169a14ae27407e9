"""Room 1, when: how many steps a worker takes before it speaks, and whom it then waits for.

| text                   | variant   | a clock is            | a pull waits for                   |
|------------------------|-----------|-----------------------|------------------------------------|
| `bsp`                  | BSP       | one step              | this clock of all whom it concerns |
| `local:H`              | Local     | H steps               | the same                           |
| `post_local:H,after=C` | PostLocal | one step, later H     | the same                           |
| `growing:H,every=E`    | Growing   | 1, 2, 4, .. H steps   | the same                           |
| `ssp:s`                | SSP       | one step, or `period` | the clocks up to s before this one |
| `asp`                  | ASP       | one step, or `period` | nobody: it brings what has come    |

A synchronization never sees a message: it only says how many steps make a clock and which clock
the exchange must have reached. Where nothing may be missing (staleness 0; `ssp:0` is BSP) the
contributions of a clock are averaged before anybody moves. Whom a pull concerns, and what else
closes a round, the architecture says. Reading order: bsp.py, local.py, post_local.py, growing.py,
ssp.py, asp.py.
"""

from __future__ import annotations

from typing import Any, Protocol

from mpiddl.errors import ConfigurationError
from mpiddl.registry import Described, Registry

__all__ = ["Steady", "Synchronization", "clocks_of", "require_steps", "synchronizations"]


class Synchronization(Protocol):
    """When workers speak."""

    @property
    def period(self) -> int:
        """Number H of steps in the longest clock."""

    @property
    def staleness(self) -> float:
        """Number s of clocks of which contributions may be missing after a pull; inf: any."""

    def steps(self, clock: int) -> int:
        """Return the number of steps in `clock`."""

    def start(self, clock: int) -> int:
        """Return the first step of `clock`, which is the number of steps before it."""

    def at_least(self, clock: int) -> int:
        """Return the clock up to which everyone's contributions must be in after a pull."""


synchronizations: Registry[Any] = Registry("mpiddl.synchronization", "synchronization")


class _Periodic(Protocol):
    @property
    def period(self) -> int: ...


class Steady(Described):
    """What synchronizations have in common whose clocks all have `period` steps."""

    def steps(self: _Periodic, clock: int) -> int:
        """Return the number of steps in `clock`."""
        return self.period

    def start(self: _Periodic, clock: int) -> int:
        """Return the first step of `clock`."""
        return clock * self.period


def require_steps(text: str, steps: object) -> None:
    """Raise ConfigurationError unless `steps` is a whole number of at least 1; `text` is right."""
    if type(steps) is not int or steps < 1:
        raise ConfigurationError(
            f"a clock has a whole number of steps of at least 1, found {steps!r}: write {text}, or "
            "1 for one step"
        )


def clocks_of(sync: Synchronization, steps: int) -> int:
    """Return how many whole clocks there are in `steps` steps."""
    clocks = steps // sync.period
    while sync.start(clocks + 1) <= steps:
        clocks += 1
    return clocks
