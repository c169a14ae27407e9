"""Tensor fusion: consecutive layers share a bucket until it is full.

Source  Sergeev & Del Balso, "Horovod: fast and easy distributed deep learning in TensorFlow", 2018
        (arXiv:1802.05799);  Li et al., "PyTorch Distributed: experiences on accelerating data
        parallel training", VLDB 2020 (arXiv:2006.15704)
Paper   for layer l = L .. 1, as the backward pass makes them ready:
            if l does not fit into the open bucket:  close it, open the next
            put l into the open bucket
Letters l `layer` | the bucket is full at `size`, as in 25MB
Cost    one exchange per bucket and clock: fewer latencies than layerwise, and all but the bucket
        of the first layers travel while gradients are still computed
Differs from the paper: the plan is made once, from sizes alone. Horovod fuses what happens to be
ready, so its sums may change their order from run to run; PyTorch lets the last layer of a bucket
exceed the size and makes the first bucket that is sent smaller. As there, MB is 1024 * 1024 bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from mpiddl.errors import ConfigurationError
from mpiddl.layout import Bucket, Layout, Plan
from mpiddl.registry import Described
from mpiddl.schedule import schedules

__all__ = ["Fused"]

UNITS = {"B": 1, "KB": 1024, "MB": 1024**2, "GB": 1024**3}


@schedules.register("fused")
@dataclass(frozen=True)
class Fused(Described):
    """Buckets of whole layers, of at most `size` unless one layer alone is larger.

    Parameters
    ----------
    size : str
        A whole number of B, KB, MB or GB (powers of 1024), above 0: "25MB".

    Raises
    ------
    ConfigurationError
        If `size` is not of that form.
    """

    size: str

    def __post_init__(self) -> None:
        if not re.fullmatch(r"0*[1-9][0-9]*[KMG]?B", str(self.size), re.ASCII):
            raise ConfigurationError(
                f"fused needs a whole number of B, KB, MB or GB above 0, found {self.size!r}: "
                "write fused:25MB"
            )

    @property
    def bytes(self) -> int:
        """The size in bytes."""
        digits = self.size.rstrip("BKMG")
        return int(digits) * UNITS[self.size[len(digits) :]]

    def plan(self, layout: Layout, itemsize: int) -> Plan:
        """Return the buckets; each but a lone layer has at most `bytes` // `itemsize` entries."""
        limit, held = self.bytes // itemsize, 0
        bounds = [len(layout.names)]
        for layer in reversed(range(len(layout.names))):
            size = prod(layout.shapes[layer])
            if held and held + size > limit:
                bounds.append(layer + 1)
                held = 0
            held += size
        return Plan(tuple(self._buckets(layout, [0, *reversed(bounds)])))

    @staticmethod
    def _buckets(layout: Layout, bounds: list[int]) -> Iterator[Bucket]:
        for index, (first, end) in enumerate(pairwise(bounds)):
            span = slice(layout.span(first).start, layout.span(end - 1).stop)
            yield Bucket(index, span, range(first, end))
