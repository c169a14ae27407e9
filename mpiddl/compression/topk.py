"""Top-k: only the k entries of largest magnitude.

Source  Aji & Heafield, "Sparse communication for distributed gradient descent", EMNLP 2017.
        arXiv:1704.05021;  Stich, Cordonnier & Jaggi, "Sparsified SGD with memory", NeurIPS 2018.
        arXiv:1809.07599
Paper   C(v)_j = v_j if |v_j| is among the k largest, else 0
Letters v `v` (b,) | k = ceil(ratio b), at least 1
Cost    k indices of 4 bytes and k values of w bytes
Quality contractive, delta = k / b (attained when all magnitudes are equal)
Differs from the paper: of equal magnitudes the lowest indices are sent; exactly k entries travel,
zeros included; NaN counts as the largest magnitude, so it is never hidden.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mpiddl.arrays import Array
from mpiddl.compression import Contractive, Key, compressors
from mpiddl.compression.shares import OfShare, largest
from mpiddl.compression.wire import Wire

__all__ = ["TopK"]


@compressors.register("topk")
@dataclass(frozen=True)
class TopK(OfShare):
    """Send the largest entries. What `ratio` may be says `OfShare`."""

    linear: ClassVar[bool] = False

    def wire(self, b: int, dtype: Any) -> Wire:
        """Return the record: k values, then k indices."""
        k = self.count(b)
        return Wire(values=(dtype, k), indices=("int32", k))

    def quality(self, b: int) -> Contractive:
        """Return delta = k / b."""
        return Contractive(self.count(b) / b if b else 1.0)

    def encode(self, v: Array, payload: Array, key: Key) -> int:
        """Write the k largest entries of `v` (b,) into `payload`, by increasing index."""
        wire = self.wire(v.size, v.dtype)
        fields = wire.views(payload)
        chosen = largest(v, self.count(v.size))
        fields.indices[...] = chosen
        fields.values[...] = v[chosen]
        return wire.nbytes

    def decode(self, payload: Array, out: Array, key: Key) -> None:
        """Scatter `payload` into `out` (b,); the other entries become 0."""
        fields = self.wire(out.size, out.dtype).views(payload)
        out[...] = 0
        out[fields.indices] = fields.values
