"""Eight bits: every entry as one of 256 equally spaced numbers between the ends of its block.

Source  Jacob et al., "Quantization and training of neural networks for efficient integer-
        arithmetic-only inference", CVPR 2018.  arXiv:1712.05877 (the affine map, and its rounding)
Paper   C(v)_j = low + step round((v_j - low) / step);   step = (high - low) / 255
Letters v `v` (b,) | low, high `ends`: least and greatest entry of a block of `block` entries
Cost    1 byte per entry, and 2 w for every block
Quality contractive, delta = 1 - (k - 2) / (2 255^2), k = min(block, b), attained at (1, -1, 0, ..)
        in one block: 0 lies halfway between two levels, and the ends are exact
Differs from the paper: zero is not made a level, so in a block that is not all zeros it comes back
as up to step / 2. The range is of the data, not learnt. A block with an entry that is not finite is
NaN. Ranges below the smallest normal number are not promised.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mpiddl.arrays import Array, namespace
from mpiddl.compression import Contractive, Key, compressors
from mpiddl.compression.wire import Wire
from mpiddl.errors import ConfigurationError
from mpiddl.registry import Described

__all__ = ["Int8"]

STEPS = 255
MOST = 2**16


@compressors.register("int8")
@dataclass(frozen=True)
class Int8(Described):
    """Send whole numbers of steps.

    Parameters
    ----------
    block : int
        Entries that have one range, in 1 .. 65536; the last block may be shorter.

    Raises
    ------
    ConfigurationError
        If `block` is not such a whole number.
    """

    block: int = 2048

    linear: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if type(self.block) is not int or not 1 <= self.block <= MOST:
            raise ConfigurationError(
                f"int8 needs a whole number of entries in a block, 1 .. {MOST}, found "
                f"{self.block!r}: write int8:2048"
            )

    def wire(self, b: int, dtype: Any) -> Wire:
        """Return the record: the least and then the greatest of all blocks, and the steps."""
        return Wire(ends=(dtype, 2 * -(-b // self.block)), steps=("uint8", b))

    def quality(self, b: int) -> Contractive:
        """Return delta = 1 - (k - 2) / (2 255^2) of the worst vector."""
        return Contractive(1 - max(min(self.block, b) - 2, 0) / (2 * STEPS**2))

    def encode(self, v: Array, payload: Array, key: Key) -> int:
        """Write the ends of every block of `v` (b,), and the nearest step of every entry."""
        xp, wire = namespace(v), self.wire(v.size, v.dtype)
        if v.size:
            fields, size = wire.views(payload), min(self.block, v.size)
            ends = fields.ends.reshape(2, -1)
            table = xp.empty(ends.shape[1] * size, v.dtype)
            table[: v.size] = v
            table[v.size :] = v[v.size - 1 :]  # the last entry again: it moves no end
            table = table.reshape(-1, size) / 2  # halves: no difference overflows
            low, high = table.min(axis=1), table.max(axis=1)
            finite = xp.isfinite(low) & xp.isfinite(high)
            ends[0], ends[1] = (xp.where(finite, end * 2, float("nan")) for end in (low, high))
            low, high = (xp.where(finite, end, 0)[:, None] for end in (low, high))
            share = xp.where(finite[:, None], table - low, 0) / xp.where(high > low, high - low, 1)
            fields.steps[...] = xp.rint(share * STEPS).reshape(-1)[: v.size]
        return wire.nbytes

    def decode(self, payload: Array, out: Array, key: Key) -> None:
        """Overwrite `out` (b,) with the numbers between the ends."""
        xp, fields = namespace(out), self.wire(out.size, out.dtype).views(payload)
        ends = fields.ends.reshape(2, -1)
        size = min(self.block, out.size)
        low, high = (xp.repeat(ends[side], size)[: out.size] for side in (0, 1))
        out[...] = fields.steps
        out /= STEPS
        out[...] = low * (1 - out) + high * out
