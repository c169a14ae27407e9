"""1-bit SGD: one bit per entry, and the mean of those at or above zero and of those below it.

Source  Seide, Fu, Droppo, Li & Yu, "1-bit stochastic gradient descent and its application to
        data-parallel distributed training of speech DNNs", Interspeech 2014
Paper   C(v)_j = mean of all v_i >= 0 if v_j >= 0, else mean of all v_i < 0
Letters v `v` (b,) | v_j < 0 `minus` | the two means `means`, the first of v_i >= 0
Cost    2 w bytes and ceil(b / 8): the bits are packed, eight to a byte
Quality contractive, delta = 1 / b, attained by one positive entry alone; of |v|^2 are kept
        P^2 / p + Q^2 / q, with sums P, Q of the p entries at or above zero and the q below
Differs from the paper: means are of a vector or bucket, not of each column of a weight matrix. The
error feedback that the paper needs is the channel `ef+`. Zeros of either sign count as at or above
zero, and so does NaN, which is then in the mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mpiddl.arrays import Array, namespace
from mpiddl.compression import Contractive, Key, compressors
from mpiddl.compression.wire import Wire
from mpiddl.registry import Described

__all__ = ["OneBit"]


@compressors.register("onebit")
@dataclass(frozen=True)
class OneBit(Described):
    """Send on which side of zero every entry is, and the mean of each side."""

    linear: ClassVar[bool] = False

    def wire(self, b: int, dtype: Any) -> Wire:
        """Return the record: two means, then the bits (1 is below zero)."""
        return Wire(means=(dtype, 2), bits=("uint8", -(-b // 8)))

    def quality(self, b: int) -> Contractive:
        """Return the delta of the worst vector, 1 / b."""
        return Contractive(1 / b if b else 1.0)

    def encode(self, v: Array, payload: Array, key: Key) -> int:
        """Write the sides of `v` (b,) and their means into `payload`."""
        xp, wire = namespace(v), self.wire(v.size, v.dtype)
        fields, minus = wire.views(payload), v < 0
        for side, there in enumerate((~minus, minus)):
            count = xp.maximum(there.sum(), 1).astype(v.dtype)
            fields.means[side : side + 1] = xp.where(there, v / count, 0).sum()  # no overflow
        fields.bits[...] = xp.packbits(minus)
        return wire.nbytes

    def decode(self, payload: Array, out: Array, key: Key) -> None:
        """Overwrite `out` (b,) with the mean of each entry's side."""
        xp, fields = namespace(out), self.wire(out.size, out.dtype).views(payload)
        minus = xp.unpackbits(fields.bits)[: out.size]
        out[...] = xp.where(minus == 1, fields.means[1:], fields.means[:1])
