"""Random instances of the axioms of views: steps, updates and who sees them."""

from __future__ import annotations

import numpy as np

from theory.forms import Scalar, Vector
from theory.instances import ENTRIES, Draw, Floats, Instance, from_minimum

__all__ = ["SAMPLERS", "most_apart"]

LENGTH, STEP, COUNT = Scalar("length"), Scalar("step"), Scalar("count")
g, w = Vector.mean("g"), Vector.mean("w")


def _apart(rng: np.random.Generator) -> Instance:
    """A gradient and the signed updates of three others; now and then all in one direction."""
    gradients = rng.normal(size=(4, 1, 1, ENTRIES))
    signs = rng.choice([-1.0, 1.0], size=3)
    if rng.random() < 0.5:
        gradients[:] = gradients[0]
        signs[:] = 1.0
    steps = rng.uniform(0.1, 1.0, size=3)
    missed: Floats = np.tensordot(steps * signs, gradients[1:], axes=1)
    most = float((gradients**2).sum(axis=(1, 2, 3)).max())
    stacks = {"g": gradients[0], "w": missed}
    return Instance((g, w, LENGTH), stacks, {LENGTH: float(steps.sum())}, {"G2": most})


def most_apart(workers: int, clocks: int, s: int, rng: np.random.Generator | None = None) -> int:
    """Return in how many views an update is in the wrong place, at most.

    What a view of clock c has of the clocks c - s .. c + s of another worker is drawn; without
    `rng` it is what is wrong for most updates.
    """
    clock, worker = np.divmod(np.arange(workers * clocks), workers)
    after = np.arange(clock.size)[:, None] > np.arange(clock.size)  # row: view, column: update
    between = np.abs(clock[:, None] - clock) <= s
    open_ = between & (worker[:, None] != worker)
    wrong = open_ if rng is None else open_ & (rng.random(open_.shape) < rng.random())
    seen = after ^ wrong
    surely = (clock < clock[:, None] - s) | ((worker == worker[:, None]) & (clock < clock[:, None]))
    assert np.all(seen[surely])
    return int((seen != after).sum(axis=0).max())


def _views(rng: np.random.Generator) -> Instance:
    workers, s = int(rng.integers(1, 4)), int(rng.integers(0, 3))
    found = most_apart(workers, 8, s, rng if rng.random() < 0.5 else None)
    return Instance((COUNT,), {}, {COUNT: float(found)}, {"Pw": workers, "s": s})


def _swapped(rng: np.random.Generator) -> Instance:
    """Steps, and which of them are in which sum; now and then all in as many sums."""
    steps = rng.uniform(0.1, 1.0, size=6)
    inside = rng.random((6, 6)) < 0.5
    if rng.random() < 0.5:
        inside = np.ones((6, 6), dtype=bool)
    times = int(inside.sum(axis=0).max())
    scalars = {LENGTH: float((inside @ steps).mean()), STEP: float(steps.mean())}
    return Instance((LENGTH, STEP, times), {}, scalars)


def _falling(rng: np.random.Generator) -> Instance:
    steps = int(rng.choice([1, 2, 10, 10_000]))
    mean = float(np.mean(1 / np.sqrt(np.arange(steps) + 1)))
    return Instance((STEP, 1), {}, {STEP: mean}, {"T": steps})


SAMPLERS: dict[str, Draw] = {
    "convex_gap": from_minimum(0.0),
    "apart": _apart,
    "views_differ": _views,
    "swapped": _swapped,
    "falling_steps": _falling,
}
