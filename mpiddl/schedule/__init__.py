"""Room 4, in what order and in what pieces: from the layers of a model to buckets that travel.

| text         | variant   | buckets                                                        |
|--------------|-----------|----------------------------------------------------------------|
| `whole`      | Whole     | one: the whole vector, after the last layer                    |
| `layerwise`  | Layerwise | one per layer, sent as soon as its gradient is ready           |
| `fused:SIZE` | Fused     | consecutive layers of at most SIZE together, as in `fused:25MB` |

A schedule is a pure function from a layout, and the bytes of an entry, to a plan. With the identity
compressor a plan changes no number beyond rounding (none at all where sums are made in an order
that does not depend on the position); for compressors that work per bucket it is part of the
algorithm. Reading order: whole.py, layerwise.py, fused.py.
"""

from __future__ import annotations

from typing import Any, Protocol

from mpiddl.layout import Layout, Plan
from mpiddl.registry import Registry

__all__ = ["Schedule", "schedules"]


class Schedule(Protocol):
    """How the vector is cut."""

    def plan(self, layout: Layout, itemsize: int) -> Plan:
        """Return the buckets; their spans partition [0, d) exactly.

        `itemsize` is the bytes of an entry of the vector, 4 or 8: sizes in bytes depend on it.
        """


schedules: Registry[Any] = Registry("mpiddl.schedule", "schedule")
