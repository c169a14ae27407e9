"""Step sizes over time. `schedule` is reserved for communication; these are `rates`."""

from __future__ import annotations

from dataclasses import dataclass

from mpiddl.errors import ConfigurationError

__all__ = ["Decreasing", "rate_at"]


@dataclass(frozen=True)
class Decreasing:
    """gam_t = 1 / (mu (t + a)): the step that turns a strongly convex run into a running mean.

    Parameters
    ----------
    mu : float
        Strong convexity, above 0.
    a : float
        Offset, above 0; the theorem `bsp-sc-decreasing` asks for a >= (L/mu + 1) / 2.

    Raises
    ------
    ConfigurationError
        If one of the two is not above 0.
    """

    mu: float
    a: float

    def __post_init__(self) -> None:
        if not (self.mu > 0 and self.a > 0):
            raise ConfigurationError(f"decreasing steps need mu > 0 and a > 0, found {self}")

    def __call__(self, t: int) -> float:
        """Return the step size at time `t`."""
        return 1.0 / (self.mu * (t + self.a))


def rate_at(rate: float | Decreasing, t: int) -> float:
    """Return the step size at time `t`."""
    return rate(t) if isinstance(rate, Decreasing) else rate
