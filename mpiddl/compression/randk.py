"""Random-k: k entries drawn anew for every message, scaled so that the mean is right.

Source  Wangni, Wang, Liu & Zhang, "Gradient sparsification for communication-efficient distributed
        optimization", NeurIPS 2018.  arXiv:1710.09854 (with equal probabilities)
Paper   C(v)_j = (b / k) v_j for k distinct entries j drawn at random, else 0
Letters v `v` (b,) | k = ceil(ratio b), at least 1
Cost    k values of w bytes: both ends draw the entries from the key, so they are not sent
Quality unbiased, omega = b / k - 1 for every v. With mask=private every speaker draws its own
        entries; with mask=shared all draw the same: payloads add, but their errors do too
Differs from the paper: a vector with an entry that is not finite, drawn or not, is sent as NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mpiddl.arrays import Array, namespace
from mpiddl.compression import Key, Unbiased, compressors
from mpiddl.compression.shares import OfShare, alarm
from mpiddl.compression.wire import Wire
from mpiddl.errors import ConfigurationError

__all__ = ["RandK"]


@compressors.register("randk")
@dataclass(frozen=True)
class RandK(OfShare):
    """Send random entries.

    Parameters
    ----------
    ratio : float
        As `OfShare` says.
    mask : str
        "private": every speaker draws its own entries; "shared": all draw the same.

    Raises
    ------
    ConfigurationError
        If `ratio` is not in (0, 1], or `mask` is another word.
    """

    mask: str = "private"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mask not in ("private", "shared"):
            raise ConfigurationError(
                f"randk knows the masks private and shared, found {self.mask!r}: "
                f"write randk:{self.ratio},mask=shared"
            )

    @property
    def linear(self) -> bool:
        """Whether all speakers send the same entries."""
        return self.mask == "shared"

    def wire(self, b: int, dtype: Any) -> Wire:
        """Return the record: k values."""
        return Wire(values=(dtype, self.count(b)))

    def quality(self, b: int) -> Unbiased:
        """Return omega = b / k - 1."""
        return Unbiased(b / self.count(b) - 1 if b else 0.0, independent=not self.linear)

    def encode(self, v: Array, payload: Array, key: Key) -> int:
        """Write the drawn entries of `v` (b,), times b / k."""
        wire = self.wire(v.size, v.dtype)
        if v.size:
            drawn = v[self._drawn(v, key)] * (v.size / self.count(v.size))
            wire.views(payload).values[...] = drawn + alarm(v)
        return wire.nbytes

    def decode(self, payload: Array, out: Array, key: Key) -> None:
        """Scatter `payload` into `out` (b,); the other entries become 0."""
        out[...] = 0
        out[self._drawn(out, key)] = self.wire(out.size, out.dtype).views(payload).values

    def _drawn(self, v: Array, key: Key) -> Array:
        """Return the k distinct indices of this message, drawn on the host, where `v` (b,) is."""
        generator = key.shared() if self.linear else key.private()
        drawn = generator.choice(v.size, self.count(v.size), replace=False, shuffle=False)
        return namespace(v).asarray(drawn)
