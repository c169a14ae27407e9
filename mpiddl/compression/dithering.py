"""Natural dithering: every entry as a power of two of the norm, rounded at random.

Source  Horvath, Ho, Horvath, Sahu, Canini & Richtarik, "Natural compression for distributed deep
        learning", 2019.  arXiv:1905.10988
Paper   C(v)_j = |v| sign(v_j) l, l the level next to r = |v_j| / |v| below or above, at random and
        right on average; levels 0, 2^(1-s), .., 1/4, 1/2, 1
Letters v `v` (b,) | |v| `norm`, the 2-norm | s `levels` | r `ratio` | number of the level `number`
Cost    one norm of w bytes; 1 sign bit and ceil(log2(s + 1)) level bits per entry, packed
Quality unbiased; with x = sqrt(b) 2^(1-s), omega = x - 1 if s = 1 or x >= 9/4, attained where all
        magnitudes are equal, else at most 1/8 + 2 x^2 / 9 (the paper's is 1/8 + min(x, x^2));
        errors of different speakers are independent
Differs from the paper: only the 2-norm; a zero vector has norm 0 and comes back as zeros; a norm
that is not finite leaves no entry finite.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

from mpiddl.arrays import Array, namespace
from mpiddl.compression import Key, Unbiased, compressors
from mpiddl.compression.levels import OfLevels, measured, pack, powers, unpack

__all__ = ["Dithering"]


@compressors.register("dithering")
@dataclass(frozen=True)
class Dithering(OfLevels):
    """Send powers of two of the norm. What `levels` may be says `OfLevels`."""

    most: ClassVar[int] = 127  # 2^-126 of the norm; a sign and a level fit into 8 bits

    def quality(self, b: int) -> Unbiased:
        """Return omega of the worst vector, or an upper bound where x is below 9/4."""
        x = sqrt(b) * 2.0 ** (1 - self.levels)
        alike = self.levels == 1 or x >= 9 / 4
        return Unbiased(max(x - 1, 0.0) if alike else 1 / 8 + 2 * x * x / 9)

    def encode(self, v: Array, payload: Array, key: Key) -> int:
        """Write the norm of `v` (b,) and the level of every entry."""
        xp, wire = namespace(v), self.wire(v.size, v.dtype)
        fields = wire.views(payload)
        fields.norm[...] = 0
        if v.size:
            fields.norm[...], ratio = measured(v)
            number = xp.minimum(powers(ratio, 1 - self.levels, key), self.levels)
            pack(number, xp.signbit(v), self.bits, fields.packed)
        return wire.nbytes

    def decode(self, payload: Array, out: Array, key: Key) -> None:
        """Overwrite `out` (b,) with plus or minus a power of two of the norm."""
        xp, fields = namespace(out), self.wire(out.size, out.dtype).views(payload)
        minus = unpack(fields.packed, self.bits, out)
        share = xp.ldexp((out > 0).astype(out.dtype), out.astype("int32") - self.levels)
        out[...] = share * fields.norm
        out *= 1 - 2 * minus.astype(out.dtype)
