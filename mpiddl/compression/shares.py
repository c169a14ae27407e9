"""What words that send a share of the entries have in common."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

from mpiddl.arrays import Array, namespace
from mpiddl.errors import ConfigurationError
from mpiddl.registry import Described, is_number

__all__ = ["OfShare", "alarm", "largest"]


@dataclass(frozen=True)
class OfShare(Described):
    """A word that sends a share of the entries.

    Parameters
    ----------
    ratio : float
        Share of the entries that is sent, in (0, 1]; at least one entry of a non-empty vector.

    Raises
    ------
    ConfigurationError
        If `ratio` is outside (0, 1].
    """

    ratio: float = 0.01

    def __post_init__(self) -> None:
        if not is_number(self.ratio) or not 0 < self.ratio <= 1:
            raise ConfigurationError(
                f"{self.name} needs the share of entries to send, in (0, 1], found "
                f"{self.ratio!r}: write {self.name}:0.01 for one in a hundred"
            )

    def count(self, b: int) -> int:
        """Return the number k of entries sent of `b`: ceil(ratio b), at least 1 if there is one."""
        share = Fraction(repr(float(self.ratio)))  # as it is written: 0.07 of 100 are 7, not 8
        return min(b, max(1, ceil(share * b)))


def alarm(v: Array) -> Any:
    """Return 0 if all entries of `v` (b,) are finite, else NaN: added to what is sent, it is heard.

    It is a scalar that stays where `v` is; nothing is read from a device.
    """
    if not v.size:
        return 0.0
    with np.errstate(invalid="ignore"):
        return 0 * v.max() + 0 * v.min()


def largest(v: Array, k: int) -> Array:
    """Return the indices of the k largest |v|, increasing; ties go to the lowest indices."""
    xp = namespace(v)
    if k >= v.size:
        return xp.arange(v.size)
    magnitude = xp.abs(v)
    magnitude[xp.isnan(magnitude)] = xp.inf
    threshold = xp.partition(magnitude, v.size - k)[v.size - k]
    above = xp.flatnonzero(magnitude > threshold)
    ties = xp.flatnonzero(magnitude == threshold)[: k - above.size]
    return xp.sort(xp.concatenate((above, ties)))
