"""Random instances of the axioms of lengths."""

from __future__ import annotations

import numpy as np

from theory.forms import Vector
from theory.instances import ENTRIES, WORKERS, Draw, Floats, Instance, points
from theory.radius import whole
from theory.turns import cycle

__all__ = ["SAMPLERS"]

MEAN, REST, AFTER = Vector.mean("x"), Vector.deviation("x"), Vector.deviation("y")


def _parts(rng: np.random.Generator) -> Instance:
    """A stack that is now and then its mean or its deviation alone."""
    stack, part = points(rng), (MEAN, REST)[rng.integers(2)]
    mean = stack.mean(axis=1, keepdims=True)
    if rng.random() < 0.5:
        stack = np.broadcast_to(mean, stack.shape) if part is MEAN else stack - mean
    return Instance((whole("x"), part), {"x": stack})


def _turns(mixings: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return a stack before and after some mixings, the first of them at a random turn."""
    matrices = cycle("one_peer_exponential", WORKERS)
    before, first = points(rng), int(rng.integers(len(matrices)))
    after = before
    for turn in range(first, first + mixings):
        after = np.einsum("ij,mjd->mid", matrices[turn % len(matrices)], after)
    return before, after


def _no_longer(rng: np.random.Generator) -> Instance:
    """One mixing, now and then of what it leaves as it is."""
    before, after = _turns(1, rng)
    if rng.random() < 0.5:
        before = after = points(rng) * np.array([1.0, -1.0, 1.0, -1.0])[:WORKERS, None]
    return Instance((REST, AFTER), {"x": before, "y": after})


def _averaged(rng: np.random.Generator) -> Instance:
    _, after = _turns(len(cycle("one_peer_exponential", WORKERS)), rng)
    assert after.shape == (1, WORKERS, ENTRIES)
    return Instance((AFTER,), {"y": after})


SAMPLERS: dict[str, Draw] = {"shorter": _parts, "no_longer": _no_longer, "averaged": _averaged}
