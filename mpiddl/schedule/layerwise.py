"""Wait-free back-propagation: every layer travels on its own as soon as its gradient is ready.

Source  Zhang et al., "Poseidon: an efficient communication architecture for distributed deep
        learning on GPU clusters", USENIX ATC 2017.  arXiv:1706.03292
Paper   for layer l = L .. 1:  g_l <- backward(l);  send g_l without waiting
Letters l `layer`
Cost    one exchange per layer and clock; the last layers travel while the first still compute
"""

from __future__ import annotations

from dataclasses import dataclass

from mpiddl.layout import Bucket, Layout, Plan
from mpiddl.registry import Described
from mpiddl.schedule import schedules

__all__ = ["Layerwise"]


@schedules.register("layerwise")
@dataclass(frozen=True)
class Layerwise(Described):
    """One bucket per layer."""

    def plan(self, layout: Layout, itemsize: int) -> Plan:
        """Return one bucket for each layer, in the layers' order."""
        layers = range(len(layout.names))
        return Plan(tuple(Bucket(i, layout.span(i), range(i, i + 1)) for i in layers))
