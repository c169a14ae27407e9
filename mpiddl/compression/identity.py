"""No compression: the vector as it is.

Cost    b w bytes for b entries of w bytes
Quality exact: unbiased with omega = 0; linear
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mpiddl.arrays import Array
from mpiddl.compression import Key, Unbiased, compressors
from mpiddl.compression.wire import Wire
from mpiddl.registry import Described

__all__ = ["Identity"]


@compressors.register("identity")
@dataclass(frozen=True)
class Identity(Described):
    """Send every entry."""

    linear: ClassVar[bool] = True

    def wire(self, b: int, dtype: Any) -> Wire:
        """Return the record: b values."""
        return Wire(values=(dtype, b))

    def quality(self, b: int) -> Unbiased:
        """Return omega = 0."""
        return Unbiased(0.0)

    def encode(self, v: Array, payload: Array, key: Key) -> int:
        """Copy `v` (b,) into `payload`."""
        wire = self.wire(v.size, v.dtype)
        wire.views(payload).values[...] = v
        return wire.nbytes

    def decode(self, payload: Array, out: Array, key: Key) -> None:
        """Copy `payload` into `out` (b,)."""
        out[...] = self.wire(out.size, out.dtype).views(payload).values
