"""What the workers of a trial say: compressors and channels, real ones and a broken one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpiddl.arrays import Array
from mpiddl.compression import Channel, Compressor, Key
from mpiddl.compression.difference import Difference
from mpiddl.compression.direct import Direct
from mpiddl.compression.error_feedback import ErrorFeedback
from mpiddl.compression.identity import Identity
from mpiddl.compression.qsgd import QSGD
from mpiddl.compression.randk import RandK
from mpiddl.compression.sign import ScaledSign
from mpiddl.compression.topk import TopK
from mpiddl.errors import ConfigurationError
from theory.compressed import LOUD

if TYPE_CHECKING:
    from bench.verify_runs import Spec

__all__ = ["channel", "displaces"]


@dataclass(frozen=True)
class Loud(TopK):
    """Broken: what is heard is too large, so it is no contraction."""

    def decode(self, payload: Array, out: Array, key: Key) -> None:
        """Overwrite `out` (b,) with too much."""
        super().decode(payload, out, key)
        out *= LOUD


def channel(spec: Spec, d: int) -> Channel:
    """Return the channel of a trial whose vectors have `d` entries.

    Raises
    ------
    ConfigurationError
        If mpiddl has no such compressor.
    """
    compressor = _compressor(spec, d)
    if spec.refers:
        return Difference(compressor)
    return ErrorFeedback(compressor) if displaces(spec) else Direct(compressor)


def displaces(spec: Spec) -> bool:
    """Whether displacements travel, not gradients: the step size is inside a memory."""
    return spec.compressor != "identity" and spec.memory and not spec.refers


def _compressor(spec: Spec, d: int) -> Compressor:
    share = (spec.k - 0.5) / d  # rounded up: exactly k entries
    if spec.compressor == "topk":
        return TopK(share)
    if spec.compressor == "loud":
        return Loud(share)
    if spec.compressor == "randk":
        return RandK(share, "shared" if spec.masks == "shared" else "private")
    if spec.compressor == "qsgd":
        return QSGD(spec.k)
    plain: dict[str, Compressor] = {"identity": Identity(), "sign": ScaledSign()}
    if spec.compressor not in plain:
        raise ConfigurationError(f"no run can be made of a trial with {spec.compressor!r}")
    return plain[spec.compressor]
