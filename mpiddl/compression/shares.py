"""What words that send a share of the entries have in common."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

from mpiddl.arrays import Array, namespace
from mpiddl.errors import ConfigurationError
from mpiddl.registry import is_number

__all__ = ["alarm", "check_share", "kept", "largest"]


def check_share(name: str, ratio: Any) -> None:
    """Raise ConfigurationError if `ratio` is not a share of the entries, in (0, 1]."""
    if not is_number(ratio) or not 0 < ratio <= 1:
        raise ConfigurationError(
            f"{name} needs the share of entries to send, in (0, 1], found {ratio!r}: "
            f"write {name}:0.01 for one in a hundred"
        )


def kept(ratio: float, b: int) -> int:
    """Return the number k = ceil(ratio b) of entries sent of `b`, at least 1 of a non-empty one."""
    share = Fraction(repr(float(ratio)))  # as it is written: 0.07 of 100 entries are 7, not 8
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
