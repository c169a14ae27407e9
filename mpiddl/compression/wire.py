"""Wire formats: a payload is a declared record of fields in one buffer of bytes.

Fields lie one after another without gaps, so nothing but what is declared crosses the wire. A
field may be shorter in a message than its capacity only if it is the last one.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from mpiddl.arrays import Array

__all__ = ["Wire"]


class Wire:
    """A record of named fields.

    Parameters
    ----------
    **fields : tuple of (dtype, int)
        Name, element type and number of elements, in the order in which they lie.
    """

    def __init__(self, **fields: tuple[Any, int]) -> None:
        self.fields = {name: (np.dtype(kind), int(count)) for name, (kind, count) in fields.items()}

    @property
    def nbytes(self) -> int:
        """Capacity of the record in bytes."""
        return sum(kind.itemsize * count for kind, count in self.fields.values())

    def views(self, payload: Array) -> Any:
        """Return the fields of `payload`, uint8 (at least nbytes,), as attributes; no copies."""
        views, start = {}, 0
        for name, (kind, count) in self.fields.items():
            end = start + kind.itemsize * count
            views[name] = payload[start:end].view(kind)
            start = end
        return SimpleNamespace(**views)
