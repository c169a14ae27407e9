"""Scaled sign: one bit per entry and one number for all.

Source  Karimireddy, Rebjock, Stich & Jaggi, "Error feedback fixes SignSGD and other gradient
        compression schemes", ICML 2019.  arXiv:1901.09847
Paper   C(v) = (|v|_1 / b) sign(v)
Letters v `v` (b,) | |v|_1 / b `scale`
Cost    ceil(b / 8) + w bytes: the signs are packed, eight to a byte
Quality contractive, delta = |v|_1^2 / (b |v|^2), at least 1 / b
Differs from the paper: sign(0) is +1 and sign(-0) is -1, for one bit has no third value; a zero
vector has scale 0 and comes back as zeros.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mpiddl.arrays import Array, namespace
from mpiddl.compression import Contractive, Key, compressors
from mpiddl.compression.wire import Wire
from mpiddl.registry import Described

__all__ = ["ScaledSign"]


@compressors.register("sign")
@dataclass(frozen=True)
class ScaledSign(Described):
    """Send the sign of every entry and the mean magnitude."""

    linear: ClassVar[bool] = False

    def wire(self, b: int, dtype: Any) -> Wire:
        """Return the record: one scale, then the bits (1 is minus)."""
        return Wire(scale=(dtype, 1), bits=("uint8", -(-b // 8)))

    def quality(self, b: int) -> Contractive:
        """Return the delta of the worst vector, 1 / b."""
        return Contractive(1 / b if b else 1.0)

    def encode(self, v: Array, payload: Array, key: Key) -> int:
        """Write the signs of `v` (b,) and its mean magnitude into `payload`."""
        xp, wire = namespace(v), self.wire(v.size, v.dtype)
        fields = wire.views(payload)
        fields.scale[...] = xp.abs(v).mean() if v.size else 0
        fields.bits[...] = xp.packbits(xp.signbit(v))
        return wire.nbytes

    def decode(self, payload: Array, out: Array, key: Key) -> None:
        """Overwrite `out` (b,) with plus or minus the scale."""
        xp, fields = namespace(out), self.wire(out.size, out.dtype).views(payload)
        minus = xp.unpackbits(fields.bits)[: out.size]
        xp.multiply(minus, -2.0, out=out, casting="unsafe")
        out += 1
        out *= fields.scale
