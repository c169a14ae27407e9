"""TernGrad: every entry as -1, 0 or 1 times the largest magnitude, rounded at random.

Source  Wen et al., "TernGrad: ternary gradients to reduce communication in distributed deep
        learning", NeurIPS 2017.  arXiv:1705.07878
Paper   C(v)_j = s sign(v_j) b_j;   b_j = 1 with probability |v_j| / s, else 0;   s = max |v|
Letters v `v` (b,) | s `scale` | b_j `said` | |v_j| / s `chance`
Cost    w bytes for the scale and ceil(b / 5): five ternary digits fill a byte (3^5 = 243)
Quality unbiased, omega = (sqrt(b) - 1) / 2, attained where one magnitude is 1 and all others are
        1 / (1 + sqrt(b)); errors of different speakers are independent
Differs from the paper: gradients are not clipped first, which would make what is said biased; the
scale is the speaker's own, of its vector or bucket, and not shared by all or one per layer. A scale
that is not finite leaves no entry finite.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar

from mpiddl.arrays import Array, namespace
from mpiddl.compression import Key, Unbiased, compressors
from mpiddl.compression.levels import scaled
from mpiddl.compression.wire import Wire
from mpiddl.registry import Described

__all__ = ["TernGrad"]

DIGITS = 5  # in a byte


@compressors.register("terngrad")
@dataclass(frozen=True)
class TernGrad(Described):
    """Send ternary digits."""

    linear: ClassVar[bool] = False

    def wire(self, b: int, dtype: Any) -> Wire:
        """Return the record: the scale, then the digits (2 is minus one), the first the lowest."""
        return Wire(scale=(dtype, 1), digits=("uint8", -(-b // DIGITS)))

    def quality(self, b: int) -> Unbiased:
        """Return omega of the worst vector, (sqrt(b) - 1) / 2."""
        return Unbiased(max(sqrt(b) - 1, 0.0) / 2)

    def encode(self, v: Array, payload: Array, key: Key) -> int:
        """Write the largest magnitude of `v` (b,) and the digit of every entry."""
        xp, wire = namespace(v), self.wire(v.size, v.dtype)
        fields = wire.views(payload)
        fields.scale[...] = 0
        if v.size:
            fields.scale[...], chance = scaled(v)
            said = xp.asarray(key.private().random(v.size, dtype=v.dtype)) < chance
            table = xp.zeros(DIGITS * fields.digits.size, "uint8")
            table[: v.size] = said * (1 + xp.signbit(v).astype("uint8"))
            table = table.reshape(-1, DIGITS)
            fields.digits[...] = 0
            for digit in reversed(range(DIGITS)):
                fields.digits[...] = fields.digits * 3 + table[:, digit]
        return wire.nbytes

    def decode(self, payload: Array, out: Array, key: Key) -> None:
        """Overwrite `out` (b,) with minus, no or plus the scale."""
        xp, fields = namespace(out), self.wire(out.size, out.dtype).views(payload)
        table = xp.empty((fields.digits.size, DIGITS), "int8")
        rest = fields.digits
        for digit in range(DIGITS):
            table[:, digit] = rest % 3
            rest = rest // 3
        digits = table.reshape(-1)[: out.size]
        out[...] = digits - 3 * (digits == 2)
        out *= fields.scale
