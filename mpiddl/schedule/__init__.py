"""Room 4, in what order and in what pieces: from the layers of a model to buckets that travel.

| text        | variant   | buckets                                              |
|-------------|-----------|------------------------------------------------------|
| `whole`     | Whole     | one: the whole vector, after the last layer          |
| `layerwise` | Layerwise | one per layer, sent as soon as its gradient is ready |

A schedule is a pure function from a layout to a plan. With the identity compressor a plan changes
no number beyond rounding (none at all where sums are made in an order that does not depend on the
position); for compressors that work per bucket it is part of the algorithm.
"""

from __future__ import annotations

from typing import Any, Protocol

from mpiddl.layout import Layout, Plan
from mpiddl.registry import Registry

__all__ = ["Schedule", "schedules"]


class Schedule(Protocol):
    """How the vector is cut."""

    def plan(self, layout: Layout) -> Plan:
        """Return the buckets; their spans partition [0, d) exactly."""


schedules: Registry[Any] = Registry("mpiddl.schedule", "schedule")
