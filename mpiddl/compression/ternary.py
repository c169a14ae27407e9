"""Sparse ternary compression: of the k largest entries the signs, and one magnitude for all.

Source  Sattler, Wiedemann, Mueller & Samek, "Robust and communication-efficient federated learning
        from non-iid data", IEEE TNNLS 2020, Algorithm 1.  arXiv:1903.02891
Paper   C(v)_j = mu sign(v_j) if |v_j| is among the k largest, else 0;  mu = their mean magnitude
Letters v `v` (b,) | k = ceil(ratio b), at least 1 | mu `scale`
Cost    k indices of 4 bytes, ceil(k / 8) bytes of signs and a scale of w bytes
Quality contractive, delta = one^2 / (k |v|^2), one = the sum of the k largest magnitudes; at least
        min(k / b, 1 / k): attained when all magnitudes are equal, or by one entry alone
Differs from the paper: indices and bits travel as they are, without Golomb coding; of equal
magnitudes the lowest indices are sent; one bit has no third value, so a zero among the k is heard
as the scale; what is not finite makes the scale so, and is heard.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mpiddl.arrays import Array, namespace
from mpiddl.compression import Contractive, Key, compressors
from mpiddl.compression.shares import OfShare, largest
from mpiddl.compression.wire import Wire

__all__ = ["Ternary"]


@compressors.register("ternary")
@dataclass(frozen=True)
class Ternary(OfShare):
    """Send signs and mean magnitude of the largest entries. What `ratio` may be says `OfShare`."""

    linear: ClassVar[bool] = False

    def wire(self, b: int, dtype: Any) -> Wire:
        """Return the record: one scale, k indices, then k bits (1 is minus)."""
        k = self.count(b)
        return Wire(scale=(dtype, 1), indices=("int32", k), bits=("uint8", -(-k // 8)))

    def quality(self, b: int) -> Contractive:
        """Return the delta of the worst vector, min(k / b, 1 / k)."""
        k = self.count(b)
        return Contractive(min(k / b, 1 / k) if b else 1.0)

    def encode(self, v: Array, payload: Array, key: Key) -> int:
        """Write where the k largest entries of `v` (b,) are, and what they have in common."""
        xp, wire = namespace(v), self.wire(v.size, v.dtype)
        fields = wire.views(payload)
        chosen = largest(v, self.count(v.size))
        values = v[chosen]
        fields.scale[...] = xp.abs(values).mean() if v.size else 0
        fields.indices[...] = chosen
        fields.bits[...] = xp.packbits(xp.signbit(values))
        return wire.nbytes

    def decode(self, payload: Array, out: Array, key: Key) -> None:
        """Scatter plus or minus the scale into `out` (b,); the other entries become 0."""
        xp, fields = namespace(out), self.wire(out.size, out.dtype).views(payload)
        minus = xp.unpackbits(fields.bits)[: fields.indices.size]
        out[...] = 0
        out[fields.indices] = fields.scale * (1 - 2 * minus.astype(out.dtype))
