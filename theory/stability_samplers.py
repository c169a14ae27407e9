"""Random instances of the axioms of linear recursions: modes of delayed gradients."""

from __future__ import annotations

import numpy as np

from theory.forms import Scalar
from theory.instances import Draw, Instance
from theory.stability import modes

__all__ = ["SAMPLERS", "growth"]

BEFORE, AFTER = Scalar("before"), Scalar("after")


def growth(delay: int, step: float) -> float:
    """Return lim |C^k|^(1/k) of the recursion's matrix C (Gelfand), by squaring fifty times."""
    power = np.eye(delay + 1, k=-1)
    power[0, 0] += 1
    power[0, -1] -= step
    log = 0.0  # of what was divided by, per step
    for times in range(50):
        norm = float(np.linalg.norm(power))
        log += np.log(norm) / 2**times
        power = (power / norm) @ (power / norm)
    return float(np.exp(log))


def _crossings(delay: int) -> list[float]:
    """Return gam a of all steps at which a mode is on the circle."""
    angles = np.pi * (1 + 4 * np.arange(delay + 1)) / (2 * delay + 1)
    return sorted({round(float(2 * np.sin(angle / 2)), 9) for angle in angles})


def _stay(rng: np.random.Generator) -> Instance:
    """Two steps with no crossing in between."""
    delay = int(rng.integers(6))
    ends = [0.0, *_crossings(delay), 3.0]
    place = int(rng.integers(len(ends) - 1))
    low, high = ends[place], ends[place + 1]
    steps = low + (high - low) * rng.uniform(0.02, 0.98, size=2)
    counts = [float(np.sum(modes(delay, float(step)) < 1)) for step in steps]
    return Instance((BEFORE, AFTER), {}, dict(zip((BEFORE, AFTER), counts, strict=True)))


def _inside(rng: np.random.Generator) -> Instance:
    """A step below the first crossing, now and then by a hair."""
    delay = int(rng.integers(6))
    share = 1 - 1e-11 if rng.random() < 0.5 else rng.uniform(0.1, 1)
    found = growth(delay, share * _crossings(delay)[0])
    return Instance((AFTER,), {}, {AFTER: found})


SAMPLERS: dict[str, Draw] = {"modes_stay": _stay, "modes_inside": _inside}
