"""What a step size is multiplied by as time goes by, as in ``0.1@warmup:20@cosine:200``.

| text       | factor at time t = 0, 1, ..         | source                                   |
|------------|-------------------------------------|------------------------------------------|
| `sqrt`     | 1 / sqrt(t + 1)                     | Nemirovski et al. 2009, SIAM J. Optim.   |
| `decay:A`  | A / (t + A)                         | Robbins & Monro 1951, Ann. Math. Stat.   |
| `step:K`   | a tenth after every K               | He et al. 2016, arXiv:1512.03385         |
| `warmup:K` | (t + 1) / K, then 1                 | Goyal et al. 2017, arXiv:1706.02677      |
| `cosine:K` | (1 + cos(pi t / K)) / 2, then 0     | Loshchilov & Hutter 2017, arXiv:1608.03983 |

All count from the same t = 0: a cosine after a warm-up does not wait for its end. Time is the
steps of a worker in the inner seat, the clocks in the outer one.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, isfinite, pi, sqrt
from typing import Any, Protocol

from mpiddl.errors import ConfigurationError
from mpiddl.registry import Described, Registry, is_number

__all__ = ["Cosine", "Decay", "Factor", "Sqrt", "Step", "Warmup", "factors"]


class Factor(Protocol):
    """A number per time."""

    def at(self, t: int) -> float:
        """Return the factor at time `t`, from 0 to 1."""


factors: Registry[Any] = Registry("mpiddl.optim", "step-size factor")


def _check_length(factor: Described, length: object) -> None:
    if type(length) is not int or length < 1:
        raise ConfigurationError(
            f"{factor.name} needs a whole number of steps of at least 1, found {length!r}: "
            f"write {factor.name}:20"
        )


@factors.register("sqrt")
@dataclass(frozen=True)
class Sqrt(Described):
    """1 / sqrt(t + 1), the steps of convex problems without a known end."""

    def at(self, t: int) -> float:
        """Return the factor at time `t`."""
        return 1 / sqrt(t + 1)


@factors.register("decay")
@dataclass(frozen=True)
class Decay(Described):
    """a / (t + a): half at t = a, then like 1 / t; `a` is above 0."""

    a: float

    def __post_init__(self) -> None:
        if not is_number(self.a) or not (isfinite(self.a) and self.a > 0):
            raise ConfigurationError(
                f"decay needs a number above 0, found {self.a!r}: write decay:5"
            )

    def at(self, t: int) -> float:
        """Return the factor at time `t`."""
        return self.a / (t + self.a)


@factors.register("step")
@dataclass(frozen=True)
class Step(Described):
    """A tenth after every `length` steps."""

    length: int

    def __post_init__(self) -> None:
        _check_length(self, self.length)

    def at(self, t: int) -> float:
        """Return the factor at time `t`."""
        return float(0.1 ** (t // self.length))


@factors.register("warmup")
@dataclass(frozen=True)
class Warmup(Described):
    """From 1 / length to 1 in equal strides, 1 from t = length - 1 on."""

    length: int

    def __post_init__(self) -> None:
        _check_length(self, self.length)

    def at(self, t: int) -> float:
        """Return the factor at time `t`."""
        return min(1.0, (t + 1) / self.length)


@factors.register("cosine")
@dataclass(frozen=True)
class Cosine(Described):
    """Half a cosine from 1 at t = 0 to 0 at t = length, and 0 from then on."""

    length: int

    def __post_init__(self) -> None:
        _check_length(self, self.length)

    def at(self, t: int) -> float:
        """Return the factor at time `t`."""
        return (1 + cos(pi * t / self.length)) / 2 if t < self.length else 0.0
