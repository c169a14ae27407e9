"""Half precision: every entry as a float16, and one exponent for all.

Source  Micikevicius et al., "Mixed precision training", ICLR 2018.  arXiv:1710.03740 (scaling by a
        power of two, so that small numbers are not flushed)
Paper   C(v)_j = 2^-e half(2^e v_j), e such that the largest magnitude lies in [2^14, 2^15)
Letters v `v` (b,) | e `15 - exponent`
Cost    2 bytes per entry and 2 for the exponent
Quality contractive, delta = 1 - 2^-22 - b / 2^78: 11 bits of each entry are kept, but nothing below
        2^-39 of the largest
Differs from the paper: the exponent is that of the vector, not of a loss. So nothing finite
overflows, whatever its size, and nothing is flushed for being small in itself. Payloads are not
summed: each is widened first, and sums are made in the vector's own width, so n of them do not
overflow either. Infinities and NaN stay what they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mpiddl.arrays import Array, namespace
from mpiddl.compression import Contractive, Key, compressors
from mpiddl.compression.wire import Wire
from mpiddl.registry import Described

__all__ = ["Half"]


@compressors.register("fp16")
@dataclass(frozen=True)
class Half(Described):
    """Send float16 numbers."""

    linear: ClassVar[bool] = False

    def wire(self, b: int, dtype: Any) -> Wire:
        """Return the record: b halves, then the exponent of the largest magnitude."""
        return Wire(values=("float16", b), exponent=("int16", 1))

    def quality(self, b: int) -> Contractive:
        """Return delta = 1 - 2^-22 - b / 2^78."""
        return Contractive(1 - 2.0**-22 - b * 2.0**-78)

    def encode(self, v: Array, payload: Array, key: Key) -> int:
        """Write `v` (b,), scaled to the range of float16."""
        xp, wire = namespace(v), self.wire(v.size, v.dtype)
        fields = wire.views(payload)
        fields.exponent[...] = 0
        if v.size:
            largest = xp.abs(v).max()
            # beside an infinity nothing needs to be kept, and nothing may overflow with a warning
            exponent = xp.where(
                xp.isfinite(largest), xp.frexp(largest)[1], np.finfo(v.dtype).maxexp
            )
            fields.exponent[...] = exponent
            fields.values[...] = xp.ldexp(v, 15 - exponent)
        return wire.nbytes

    def decode(self, payload: Array, out: Array, key: Key) -> None:
        """Overwrite `out` (b,) with the halves, widened and scaled back."""
        xp, fields = namespace(out), self.wire(out.size, out.dtype).views(payload)
        out[...] = fields.values
        xp.ldexp(out, fields.exponent.astype("int32") - 15, out=out)
