"""Natural compression: every entry rounded at random to a power of two; only exponents are said.

Source  Horvath, Ho, Horvath, Sahu, Canini & Richtarik, "Natural compression for distributed deep
        learning", 2019.  arXiv:1905.10988
Paper   C(v)_j = sign(v_j) 2^e or sign(v_j) 2^(e+1), where 2^e <= |v_j| < 2^(e+1), the latter with
        probability |v_j| / 2^e - 1
Letters v `v` (b,) | the number of the power, 1 for the smallest normal number `number`
Cost    9 bits an entry of float32 (sign, 8 of exponent), 12 of float64 (sign, 11), packed
Quality unbiased, omega = 1 / 8, attained where all magnitudes are 4/3 of powers of two; errors of
        different speakers are independent
Differs from the paper: the next power above the last binade is no number, so there entries become
2^e or the largest number of the type, at random, still right on average and with less loss. Below
the smallest normal number (2^-126, 2^-1022) they become 0 or that, which is right on average, but
omega is promised for vectors without such entries only. Infinities and NaN come as NaN: minus zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mpiddl.arrays import Array, namespace
from mpiddl.compression import Key, Unbiased, compressors
from mpiddl.compression.levels import pack, powers, unpack
from mpiddl.compression.wire import Wire
from mpiddl.registry import Described

__all__ = ["Natural"]


@compressors.register("natural")
@dataclass(frozen=True)
class Natural(Described):
    """Send signs and exponents."""

    linear: ClassVar[bool] = False

    def wire(self, b: int, dtype: Any) -> Wire:
        """Return the record: the packed bits, of each entry the sign first."""
        return Wire(packed=("uint8", -(-b * (1 + np.finfo(dtype).nexp) // 8)))

    def quality(self, b: int) -> Unbiased:
        """Return omega = 1 / 8."""
        return Unbiased(0.125 if b else 0.0)

    def encode(self, v: Array, payload: Array, key: Key) -> int:
        """Write sign and power of every entry of `v` (b,)."""
        xp, wire, kind = namespace(v), self.wire(v.size, v.dtype), np.finfo(v.dtype)
        if v.size:
            usual = xp.isfinite(v)
            size = xp.where(usual, xp.abs(v), 0)
            last = v.dtype.type(2.0 ** (kind.maxexp - 1))
            # in the last binade the upper end is nearer by one unit in the last place
            over = xp.minimum((size - last) / (1 - kind.eps), last * (1 - kind.eps))
            size = xp.where(size > last, last + over, size)
            number = powers(size, kind.minexp, key)
            minus = xp.where(usual, (v < 0) & (number > 0), True)
            pack(number, minus, 1 + kind.nexp, wire.views(payload).packed)
        return wire.nbytes

    def decode(self, payload: Array, out: Array, key: Key) -> None:
        """Overwrite `out` (b,) with plus or minus powers of two."""
        xp, kind = namespace(out), np.finfo(out.dtype)
        minus = unpack(self.wire(out.size, out.dtype).views(payload).packed, 1 + kind.nexp, out)
        nothing, top = out == 0, 2**kind.nexp - 1
        size = xp.where(out == top, 2 - kind.eps, 1).astype(out.dtype)
        exponent = xp.minimum(out, top - 1).astype("int32") + (kind.minexp - 1)
        out[...] = xp.ldexp(size, exponent)
        out *= 1 - 2 * minus.astype(out.dtype)
        out[nothing] = 0
        out[nothing & (minus == 1)] = float("nan")
