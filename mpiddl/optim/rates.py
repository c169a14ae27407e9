"""Step sizes over time. `schedule` is reserved for communication; these are `rates`.

A rate is a number, or a number and factors that it is multiplied by (factors.py):

    0.1                        the same at all times
    0.1@warmup:20@cosine:200   grows for 20 steps, is 0 after 200

`1/(mu a)@decay:a` is 1 / (mu (t + a)), which `decreasing` spells out. Linear scaling (Goyal et al.
2017: gam in proportion to the number of workers n) is no rule of this kind: an optimizer does not
know n, so whoever compares numbers of workers chooses gam for each.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, prod

from mpiddl.errors import ConfigurationError
from mpiddl.optim.factors import Decay, Factor, factors
from mpiddl.registry import is_number

__all__ = ["Rate", "as_rate", "decreasing", "rate_at"]


@dataclass(frozen=True)
class Rate:
    """gam_t = base * product of the factors at t; prints as it is parsed.

    Parameters
    ----------
    base : float
        Above 0 and finite.
    factors : tuple of Factor
        What it is multiplied by.

    Raises
    ------
    ConfigurationError
        If `base` is not a positive finite number.
    """

    base: float
    factors: tuple[Factor, ...] = ()

    def __post_init__(self) -> None:
        if not is_number(self.base) or not (isfinite(self.base) and self.base > 0):
            raise ConfigurationError(
                f"a step size is a finite number above 0, alone or with factors "
                f"({', '.join(factors)}), found {self.base!r}: write 0.1 or 0.1@warmup:20"
            )

    @classmethod
    def parse(cls, text: str) -> Rate:
        """Build what a text such as ``0.1@sqrt`` describes.

        Raises
        ------
        ConfigurationError
            If the number is not one above 0, or a factor is unknown or does not fit.
        """
        base, *rest = text.split("@")
        number: object = base
        for kind in (float, int):  # an int prints as it was written
            try:
                number = kind(base)
            except ValueError:
                continue
        return cls(number, tuple(map(factors.parse, rest)))  # type: ignore[arg-type]

    def __call__(self, t: int) -> float:
        """Return the step size at time `t`."""
        return prod((factor.at(t) for factor in self.factors), start=self.base)

    def __str__(self) -> str:
        return "@".join(map(str, (self.base, *self.factors)))


def as_rate(value: object) -> float | Rate:
    """Return `value`, a number, a text or a Rate, as a number where it has no factors.

    Raises
    ------
    ConfigurationError
        If it is no step size.
    """
    if isinstance(value, str):
        rate = Rate.parse(value)
    else:
        rate = value if isinstance(value, Rate) else Rate(value)  # type: ignore[arg-type]
    return rate if rate.factors else rate.base


def rate_at(rate: float | Rate, t: int) -> float:
    """Return the step size at time `t`."""
    return rate(t) if isinstance(rate, Rate) else rate


def decreasing(mu: float, a: float) -> Rate:
    """Return gam_t = 1 / (mu (t + a)): a strongly convex run becomes a running mean.

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
    if not (mu > 0 and a > 0):
        raise ConfigurationError(f"decreasing steps need mu > 0 and a > 0, found {mu} and {a}")
    return Rate(1 / (mu * a), (Decay(a),))
