"""Random instances of the axioms of one worker at a time: all turns, all meetings are outcomes."""

from __future__ import annotations

import numpy as np

from theory.forms import Base, Vector
from theory.instances import ENTRIES, WORKERS, Draw, Floats, Instance, points
from theory.meetings import edges, measured_nu

__all__ = ["SAMPLERS"]

ALL = Vector.of(Base("g", "whole"))


def _turns(gradients: Floats) -> Floats:
    """Return u for every turn, (n, n, entries), from gradients (1, n, entries)."""
    turns: Floats = WORKERS * np.eye(WORKERS)[:, :, None] * gradients
    return turns


def _by_lot(rng: np.random.Generator) -> Instance:
    """Means or deviations."""
    known, gradients = points(rng), points(rng)
    build = (Vector.mean, Vector.deviation)[rng.integers(2)]
    stacks = {"x": known, "u": _turns(gradients), "g": gradients}
    every = {name: np.broadcast_to(stack, stacks["u"].shape) for name, stack in stacks.items()}
    return Instance((build("x"), build("u"), build("g")), every)


def _part(build: object) -> Draw:
    def draw(rng: np.random.Generator) -> Instance:
        gradients = points(rng)
        stacks = {"u": _turns(gradients), "g": gradients}
        return Instance((build("u"), ALL), stacks, {}, {"n": WORKERS})  # type: ignore[operator]

    return draw


def _meeting(rng: np.random.Generator) -> Instance:
    """All meetings of a ring; now and then before them the slowest deviation."""
    pairs = edges("ring", WORKERS)
    before = points(rng)
    if rng.random() < 0.5:
        wave = np.cos(2 * np.pi * np.arange(WORKERS) / WORKERS)
        before = np.broadcast_to(wave[:, None], (1, WORKERS, ENTRIES))
    after = np.repeat(before, len(pairs), axis=0)
    for outcome, pair in zip(after, pairs, strict=True):
        outcome[pair] = outcome[pair].mean(axis=0)
    arguments = (Vector.deviation("x"), Vector.deviation("y"))
    nu = measured_nu(pairs, WORKERS)
    return Instance(arguments, {"x": before, "y": after}, {}, {"nu": nu})


SAMPLERS: dict[str, Draw] = {
    "by_lot": _by_lot,
    "one_moves": _part(Vector.mean),
    "others_stay": _part(Vector.deviation),
    "meeting": _meeting,
}
