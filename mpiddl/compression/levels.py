"""What words that round to levels have in common: lengths, packed bits, powers of two."""

from __future__ import annotations

from mpiddl.arrays import Array, namespace
from mpiddl.compression import Key

__all__ = ["measured", "pack", "powers", "scaled", "unpack"]


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
