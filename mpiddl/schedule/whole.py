"""The whole vector in one message, after the backward pass."""

from __future__ import annotations

from dataclasses import dataclass

from mpiddl.layout import Bucket, Layout, Plan
from mpiddl.registry import Described
from mpiddl.schedule import schedules

__all__ = ["Whole"]


@schedules.register("whole")
@dataclass(frozen=True)
class Whole(Described):
    """One bucket."""

    def plan(self, layout: Layout, itemsize: int) -> Plan:
        """Return one bucket that every layer touches."""
        return Plan((Bucket(0, slice(0, layout.size), range(len(layout.names))),))
