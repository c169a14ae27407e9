"""bfloat16: every entry as the upper half of a float32, rounded to nearest, ties to even.

Source  Kalamkar et al., "A study of BFLOAT16 for deep learning training", 2019.  arXiv:1905.12322
Paper   C(v)_j = bfloat16(v_j): 8 exponent bits like a float32, 8 significant bits
Letters v `v` (b,) | the exponent of the largest magnitude, 0 of a float32 `exponent`
Cost    2 bytes per entry; of float64 2 more for the exponent
Quality contractive, delta = 1 - 2^-16: an entry moves by at most 1 / 257 of itself, the largest
        numbers of float32 by nearly 1 / 256
Differs from the paper: a bfloat16 has the range of a float32, so that needs no scale; a float64 is
first brought into [1/2, 1) with all others, by a power of two that travels along, so nothing
overflows. A float32 that would round to infinity becomes the largest bfloat16. The promise leaves
out float32 vectors of subnormal numbers: those keep multiples of 2^-133. NaN and infinities stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mpiddl.arrays import Array, namespace
from mpiddl.compression import Contractive, Key, compressors
from mpiddl.compression.wire import Wire
from mpiddl.registry import Described

__all__ = ["BFloat16"]

BITS = 8  # significant ones
LOWEST = -125  # frexp's exponent of the smallest normal number
LARGEST = (2 - 2.0**-7) * 2.0**127


@compressors.register("bf16")
@dataclass(frozen=True)
class BFloat16(Described):
    """Send bfloat16 numbers."""

    linear: ClassVar[bool] = False

    def wire(self, b: int, dtype: Any) -> Wire:
        """Return the record: b upper halves, then the exponent, if the type has a wider range."""
        return Wire(values=("uint16", b), exponent=("int16", int(np.finfo(dtype).nexp > BITS)))

    def quality(self, b: int) -> Contractive:
        """Return delta = 1 - 2^-16."""
        return Contractive(1 - 2.0**-16)

    def encode(self, v: Array, payload: Array, key: Key) -> int:
        """Write `v` (b,), scaled if need be and rounded."""
        xp, wire = namespace(v), self.wire(v.size, v.dtype)
        fields = wire.views(payload)
        fields.exponent[...] = 0
        if v.size:
            if fields.exponent.size:
                largest = xp.abs(v).max()
                top = np.finfo(v.dtype).maxexp  # nothing may overflow beside an infinity
                exponent = xp.where(xp.isfinite(largest), xp.frexp(largest)[1], top)
                fields.exponent[...] = exponent
                v = xp.ldexp(v, -exponent)
            fields.values[...] = _upper(v)
        return wire.nbytes

    def decode(self, payload: Array, out: Array, key: Key) -> None:
        """Overwrite `out` (b,) with what the halves are, scaled back."""
        xp, fields = namespace(out), self.wire(out.size, out.dtype).views(payload)
        out[...] = xp.left_shift(fields.values.astype("uint32"), 16).view("float32")
        if fields.exponent.size:
            xp.ldexp(out, fields.exponent.astype("int32"), out=out)


def _upper(v: Array) -> Array:
    """Return the upper halves, uint16 (b,), of `v` (b,) rounded to BITS significant bits."""
    xp = namespace(v)
    v = xp.where(xp.isfinite(v), xp.clip(v, -LARGEST, LARGEST), v)
    shift = BITS - xp.maximum(xp.frexp(v)[1], LOWEST)  # once: ties of ties would be rounded twice
    rounded = xp.ldexp(xp.rint(xp.ldexp(v, shift)), -shift).astype("float32")
    return xp.right_shift(rounded.view("uint32"), 16)
