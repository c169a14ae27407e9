"""What the options of all optimizers have in common: the step size, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

from mpiddl.errors import ConfigurationError
from mpiddl.optim.rates import Rate, as_rate, rate_at
from mpiddl.registry import Described, is_number

__all__ = ["Stepping"]


@dataclass(frozen=True)
class Stepping(Described):
    """A rule with a step size, its first field.

    Parameters
    ----------
    rate : float or Rate
        Step size gam; a text such as ``"0.1@sqrt"`` is read.

    Raises
    ------
    ConfigurationError
        If `rate` is no step size.
    """

    rate: float | Rate

    whole_layers: ClassVar[bool] = False  # whether a lane that holds a part of a layer is refused

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "rate", as_rate(self.rate))
        except ConfigurationError as error:
            raise ConfigurationError(f"{self.name}: {error}") from error

    def at(self, t: int) -> float:
        """Return the step size at time `t`."""
        return rate_at(self.rate, t)

    def require(self, field: str, low: float, below: float = inf) -> None:
        """Refuse a field that is not a number of at least `low` and below `below`."""
        value = getattr(self, field)
        if not is_number(value) or not low <= value < below:
            end = "" if below == inf else f" and below {below}"
            raise ConfigurationError(
                f"{self.name} needs a {field} of at least {low}{end}, found {value!r}"
            )
