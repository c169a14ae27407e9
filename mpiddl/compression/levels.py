"""What words that round to levels have in common: their number, lengths, bits, powers of two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mpiddl.arrays import Array, namespace
from mpiddl.compression import Key
from mpiddl.compression.wire import Wire
from mpiddl.errors import ConfigurationError
from mpiddl.registry import Described

__all__ = ["OfLevels", "measured", "pack", "powers", "scaled", "unpack"]


@dataclass(frozen=True)
class OfLevels(Described):
    """A word that sends a norm, and a sign and a level of every entry.

    Parameters
    ----------
    levels : int
        Number s of levels above 0, in 1 .. `most`; 2^m - 1 of them fill m bits.

    Raises
    ------
    ConfigurationError
        If `levels` is not such a whole number.
    """

    levels: int = 7

    linear: ClassVar[bool] = False
    most: ClassVar[int]

    def __post_init__(self) -> None:
        if type(self.levels) is not int or not 1 <= self.levels <= self.most:
            raise ConfigurationError(
                f"{self.name} needs a whole number of levels in 1 .. {self.most}, found "
                f"{self.levels!r}: write {self.name}:7 for 4 bits an entry"
            )

    @property
    def bits(self) -> int:
        """Bits per entry: the sign and ceil(log2(s + 1)) for the level."""
        return 1 + self.levels.bit_length()

    def wire(self, b: int, dtype: Any) -> Wire:
        """Return the record: the norm, then the packed bits."""
        return Wire(norm=(dtype, 1), packed=("uint8", -(-b * self.bits // 8)))


def scaled(v: Array) -> tuple[Array, Array]:
    """Return the largest magnitude of `v` (b,), b > 0, and |v| over it, at most 1.

    If it is not finite it is NaN, and the shares are 0 then, as for a vector of zeros. Nothing is
    read from a device.
    """
    xp = namespace(v)
    largest = xp.abs(v).max()
    usual = xp.isfinite(largest) & (largest > 0)
    share = xp.where(usual, xp.abs(v) / xp.where(usual, largest, 1), 0)
    return xp.where(xp.isfinite(largest), largest, float("nan")), share


def measured(v: Array, levels: int = 1) -> tuple[Array, Array]:
    """Return the 2-norm of `v` (b,), b > 0, and |v| in `levels` parts of it, as `scaled` does."""
    xp = namespace(v)
    largest, share = scaled(v)
    length = xp.sqrt((share * share).sum())  # scaled by the largest: no square overflows
    share *= levels / xp.where(length > 0, length, 1)
    return largest * length, share


def powers(size: Array, lowest: int, key: Key) -> Array:
    """Round `size` (b,), at least 0, at random to 0 or a power of two, right on average.

    Returned is the number of the power, int32 (b,): 0 for 0, 1 for 2^lowest, 2 for the next.
    """
    xp = namespace(size)
    mantissa, exponent = xp.frexp(size)
    number = exponent - lowest
    below = (number < 1) | (size == 0)  # 0 has the exponent 0
    chance = xp.where(below, xp.ldexp(xp.where(below, size, 0), -lowest), 2 * mantissa - 1)
    draws = xp.asarray(key.private().random(size.size, dtype=size.dtype))
    return xp.where(below, 0, number).astype("int32") + (draws < chance)


def pack(number: Array, minus: Array, bits: int, packed: Array) -> None:
    """Write one bit of `minus` and bits - 1 of `number`, whole and at least 0, for every entry."""
    xp = namespace(number)
    whole = number.astype("uint16")
    spread = xp.empty((number.size, bits), "uint8")
    spread[:, 0] = minus
    for bit in range(1, bits):
        spread[:, bit] = xp.bitwise_and(xp.right_shift(whole, bits - 1 - bit), 1)
    packed[...] = xp.packbits(spread.reshape(-1))


def unpack(packed: Array, bits: int, out: Array) -> Array:
    """Overwrite `out` (b,) with the numbers that were packed; return the bits of minus, (b,)."""
    xp = namespace(out)
    spread = xp.unpackbits(packed)[: out.size * bits].reshape(-1, bits)
    out[...] = 0
    for bit in range(1, bits):
        out *= 2
        out += spread[:, bit]
    return spread[:, 0]
