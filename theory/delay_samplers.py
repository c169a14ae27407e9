"""Random instances of the axioms of delays: schedules of a server, and vectors along them.

Stacks hold one worker, since a server takes in one gradient a step; where the axiom is about
averages over t, outcomes are the steps.
"""

from __future__ import annotations

import itertools
from math import inf

import numpy as np
import sympy as sp

from theory.events import PACES, Delays, Durations, Ints, ahead, schedule
from theory.forms import Scalar, Vector
from theory.instances import ENTRIES, Draw, Floats, Instance

__all__ = ["SAMPLERS"]

x = Vector.mean("x")
WITHIN, COUNT = Scalar("within"), Scalar("count")
STEPS = 40


def _delays(rng: np.random.Generator) -> Ints:
    """Return the delays of STEPS pushes of one to four workers that wait for nobody."""
    n, pace = int(rng.integers(1, 5)), str(rng.choice(list(PACES)))
    return schedule(n, STEPS, inf, PACES[pace](n, int(rng.integers(100)))).delays


def _window(rng: np.random.Generator) -> Instance:
    """Up to three vectors, now and then all alike; their number is claimed."""
    number = int(rng.integers(1, 4))
    vectors = rng.normal(size=(number, 1, 1, ENTRIES))
    if rng.random() < 0.5:
        vectors[:] = vectors[0]
    within = float((vectors**2).sum())
    arguments = (x, WITHIN, sp.Integer(number))
    return Instance(arguments, {"x": vectors.sum(axis=0)}, {WITHIN: within})


def _counted(rng: np.random.Generator) -> Instance:
    """Squares along a schedule, now and then nothing but the step in the most windows."""
    delays = _delays(rng)
    steps = np.arange(STEPS)
    inside = (steps >= (steps - delays)[:, None]) & (steps < steps[:, None])
    vectors: Floats = rng.normal(size=(STEPS, 1, ENTRIES))
    if rng.random() < 0.5:
        vectors[steps != inside.sum(axis=0).argmax()] = 0.0
    within = float((inside @ (vectors**2).sum(axis=(1, 2))).mean())
    times = sp.Integer(Delays.of(delays).under_way)
    return Instance((WITHIN, x, times), {"x": vectors}, {WITHIN: within})


def _added_up(rng: np.random.Generator) -> Instance:
    found = Delays.of(_delays(rng))
    delay, under_way = Scalar("delay"), Scalar("under way")
    return Instance((delay, under_way), {}, {delay: found.mean, under_way: found.under_way})


def _orthogonal(rng: np.random.Generator) -> Instance:
    """Three noises; the length of each depends on the signs before it."""
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))[:, :, None, None]
    before = np.cumsum(signs, axis=1) - signs
    noise = signs * (2 + before) * rng.normal(size=(1, 3, 1, ENTRIES))
    within = float((noise**2).sum(axis=(1, 2, 3)).mean())
    return Instance((x, WITHIN), {"x": noise.sum(axis=1)}, {WITHIN: within})


def _gated(rng: np.random.Generator) -> tuple[Delays, dict[str, float]]:
    """Return the delays of two to four workers, at random or as one after the longest delay."""
    n, staleness = int(rng.integers(2, 5)), int(rng.integers(0, 4))
    pace: Durations = ahead(staleness)
    if rng.random() < 0.5:
        pace = PACES[str(rng.choice(list(PACES)))](n, int(rng.integers(100)))
    found = Delays.of(schedule(n, 100, staleness, pace).delays)
    return found, {"Pw": n, "s": staleness}


def _gate(rng: np.random.Generator) -> Instance:
    found, letters = _gated(rng)
    return Instance((COUNT,), {}, {COUNT: found.longest}, letters)


def _one_each(rng: np.random.Generator) -> Instance:
    found, letters = _gated(rng)
    return Instance((COUNT,), {}, {COUNT: found.under_way}, letters)


SAMPLERS: dict[str, Draw] = {
    "window": _window,
    "counted": _counted,
    "delays_add_up": _added_up,
    "orthogonal_sum": _orthogonal,
    "gate": _gate,
    "one_each": _one_each,
}
