"""What is written down during a run."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from mpiddl.arrays import Array

__all__ = ["Log", "Trace"]


@dataclass(frozen=True)
class Trace:
    """What one worker did.

    Parameters
    ----------
    y, g : (T, d)
        Where it took gradients, and these.
    x : (d,)
        Its model at the end.
    e : (T + 1, d) or None
        Its memory before each message and at the end; None if it has none.
    said : (T, d) or None
        What all believe of it after each message; None if it has a memory, or says all.
    v : (pushes, d) or None
        The model after each push, of a rank that only serves; it has no y, no g and no e.
    """

    y: Array
    g: Array
    x: Array
    e: Array | None
    said: Array | None = None
    v: Array | None = None


@dataclass
class Log:
    """What is written down during a run, by worker."""

    y: defaultdict[int, list[Array]] = field(default_factory=lambda: defaultdict(list))
    g: defaultdict[int, list[Array]] = field(default_factory=lambda: defaultdict(list))
    e: defaultdict[int, list[Array]] = field(default_factory=lambda: defaultdict(list))
    said: defaultdict[int, list[Array]] = field(default_factory=lambda: defaultdict(list))
    v: list[Array] = field(default_factory=list)

    def trace(self, worker: int, x: Array) -> Trace:
        """Return all of `worker`, which ended at `x` (d,), or all of a server."""
        if worker not in self.y:
            nothing = np.empty((0, x.size))
            return Trace(nothing, nothing, x, None, v=np.stack(self.v))
        kept, said = self.e.get(worker), self.said.get(worker)
        e = np.stack([np.zeros_like(x), *kept]) if kept else None
        words = np.stack(said) if said else None
        return Trace(np.stack(self.y[worker]), np.stack(self.g[worker]), x, e, words)
