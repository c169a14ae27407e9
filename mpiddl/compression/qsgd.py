"""QSGD: every entry as a whole number of levels of the norm, rounded at random.

Source  Alistarh, Grubic, Li, Tomioka & Vojnovic, "QSGD: communication-efficient SGD via gradient
        quantization and encoding", NeurIPS 2017.  arXiv:1610.02132
Paper   C(v)_j = |v| sign(v_j) l_j / s;   l_j = floor(r) + 1 with probability r - floor(r), else
        floor(r), where r = s |v_j| / |v|
Letters v `v` (b,) | |v| `norm`, the 2-norm | s `levels` | r `ratio`
Cost    one norm of w bytes; 1 sign bit and ceil(log2(s + 1)) level bits per entry, packed
Quality unbiased; omega = sqrt(b) - 1 for s = 1 (attained where all magnitudes are equal), else at
        most min(b / (4 s^2), sqrt(b) / s); errors of different speakers are independent
Differs from the paper: the bits are packed, without Elias coding; a zero vector has norm 0 and
comes back as zeros; a norm that is not finite leaves no entry finite.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

from mpiddl.arrays import Array, namespace
from mpiddl.compression import Key, Unbiased, compressors
from mpiddl.compression.levels import OfLevels, measured, pack, unpack

__all__ = ["QSGD"]


@compressors.register("qsgd")
@dataclass(frozen=True)
class QSGD(OfLevels):
    """Send levels, all alike. What `levels` may be says `OfLevels`."""

    most: ClassVar[int] = 2**15 - 1  # a sign and a level fit into 16 bits

    def quality(self, b: int) -> Unbiased:
        """Return omega of the worst vector for one level, an upper bound for more."""
        root, s = sqrt(b), self.levels
        return Unbiased(max(root - 1, 0.0) if s == 1 else min(b / (4 * s * s), root / s))

    def encode(self, v: Array, payload: Array, key: Key) -> int:
        """Write the norm of `v` (b,) and the level of every entry."""
        xp, wire = namespace(v), self.wire(v.size, v.dtype)
        fields = wire.views(payload)
        fields.norm[...] = 0
        if v.size:
            fields.norm[...], ratio = measured(v, self.levels)
            level = xp.floor(ratio)
            draws = key.private().random(v.size, dtype=v.dtype)
            level += xp.asarray(draws) < ratio - level
            pack(xp.minimum(level, self.levels), xp.signbit(v), self.bits, fields.packed)
        return wire.nbytes

    def decode(self, payload: Array, out: Array, key: Key) -> None:
        """Overwrite `out` (b,) with plus or minus level / s of the norm."""
        fields = self.wire(out.size, out.dtype).views(payload)
        minus = unpack(fields.packed, self.bits, out)
        out *= fields.norm / self.levels
        out *= 1 - 2 * minus.astype(out.dtype)
