"""A compressor of one's own: k random entries, scaled so that the mean is right.

Put such a file into ``mpiddl/compression/`` and it is a word of the command line, and the generic
tests find it. Here it stays in the examples and is used at once:

    python -m mpiddl.examples.my_compressor

Source  Wangni, Wang, Liu & Zhang, "Gradient sparsification for communication-efficient distributed
        optimization", NeurIPS 2018.  arXiv:1710.09854 (with equal probabilities)
Paper   C(v)_j = (b / k) v_j for k entries j drawn at random, else 0
Letters k = `count`, at most b
Cost    k w bytes: the receiver draws the same indices from the key, so they are not sent
Quality unbiased, omega = b / k - 1
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import mpiddl
from mpiddl.arrays import Array
from mpiddl.compression import Key, Unbiased, compressors
from mpiddl.compression.wire import Wire
from mpiddl.registry import Described


@compressors.register("my_random_k")
@dataclass(frozen=True)
class MyRandomK(Described):
    """Send `count` entries that both ends draw from the key of the message."""

    count: int = 4
    linear: ClassVar[bool] = False

    def wire(self, b: int, dtype: Any) -> Wire:
        """Return the record: k values."""
        return Wire(values=(dtype, min(self.count, b)))

    def quality(self, b: int) -> Unbiased:
        """Return omega = b / k - 1."""
        return Unbiased(max(b / self.count - 1, 0.0))

    def encode(self, v: Array, payload: Array, key: Key) -> int:
        """Write the drawn entries of `v` (b,), scaled."""
        wire = self.wire(v.size, v.dtype)
        scale = max(v.size / self.count, 1.0)
        wire.views(payload).values[...] = v[self._chosen(v.size, key)] * scale
        return wire.nbytes

    def decode(self, payload: Array, out: Array, key: Key) -> None:
        """Scatter the values into `out` (b,)."""
        out[...] = 0
        values = self.wire(out.size, out.dtype).views(payload).values
        out[self._chosen(out.size, key)] = values

    def _chosen(self, b: int, key: Key) -> Array:
        return key.private().choice(b, size=min(self.count, b), replace=False)


def main() -> None:
    """Train with it in the simulated world."""
    variant = mpiddl.Variant.parse("bsp / allreduce / my_random_k:8 / whole / sgd:0.2")
    job = mpiddl.Run(variant, mpiddl.problem("breast_cancer", workers=8), clocks=200, every=50)
    curve = mpiddl.simulate(job)[0].curve
    assert curve is not None  # rank 0 has it
    for clock, loss, nbytes in zip(curve["clock"], curve["loss"], curve["bytes"], strict=True):
        print(f"clock {clock:4.0f}   loss {loss:.5f}   bytes {nbytes:8.0f}")


if __name__ == "__main__":
    main()
