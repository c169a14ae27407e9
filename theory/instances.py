"""Numbers for everything that an axiom mentions; random functions to take them from.

Each stack is an array (outcomes, workers, entries); an expectation is the mean over outcomes, of
which there are all, so it is exact. Functions are quadratics, log-cosh and x^2/(1 + x^2), with the
extreme curvatures among them, so that every constant of an axiom is met.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from theory.forms import ONE, Base, Form, Inner, Norm, Scalar, Vector
from theory.symbols import symbol

__all__ = [
    "CURVATURE",
    "ENTRIES",
    "SMOOTHNESS",
    "WORKERS",
    "Draw",
    "Floats",
    "Instance",
    "between",
    "differences",
    "from_minimum",
    "interpolated",
    "points",
    "within",
]

Floats = npt.NDArray[np.float64]
WORKERS, ENTRIES = 4, 3
SMOOTHNESS, CURVATURE = 2.0, 0.5
LETTERS = {"L": SMOOTHNESS, "mu": CURVATURE}

z, g = Vector.stack("z"), Vector.stack("g")
HERE, THERE = Scalar("f(x)"), Scalar("f(y)")


@dataclass
class Instance:
    """Arguments for an axiom, and numbers for what they mention."""

    arguments: tuple[Any, ...]
    stacks: Mapping[str, Floats] = field(default_factory=dict)
    scalars: Mapping[Scalar, float] = field(default_factory=dict)
    letters: Mapping[str, float] = field(default_factory=dict)

    def value(self, form: Form) -> float:
        """Return the number that `form` is."""
        letters = {symbol(name): value for name, value in self.letters.items()}
        return sum(float(c.subs(letters)) * self._atom(a) for a, c in form.terms.items())

    def _atom(self, atom: object) -> float:
        if atom == ONE:
            return 1.0
        if isinstance(atom, Scalar):
            return self.scalars[atom]
        if isinstance(atom, Norm):
            return float(np.sqrt(self._atom(Inner(atom.base, atom.base))))
        assert isinstance(atom, Inner)
        product = self._base(atom.left) * self._base(atom.right)
        return float(product.sum(axis=2).mean())

    def _base(self, base: Base) -> Floats:
        stack = self.stacks[base.name]
        if base.part == "whole":
            return stack
        mean = stack.mean(axis=1, keepdims=True)
        return np.broadcast_to(mean, stack.shape) if base.part == "mean" else stack - mean


Draw = Callable[[np.random.Generator], Instance]


def _separable(rng: np.random.Generator, low: float) -> Callable[[Floats], tuple[float, Floats]]:
    """Return a random function with curvature in [low, L]: its mean value and its gradients."""
    top = SMOOTHNESS
    kind = rng.integers(4)
    spectrum = rng.choice([low, top, 0.5 * (low + top)], size=ENTRIES)
    if kind == 0:
        spectrum[:] = low
    elif kind == 1:
        spectrum[:] = top

    def quadratic(points: Floats) -> tuple[float, Floats]:
        return float((spectrum * points**2 / 2).sum(axis=2).mean()), spectrum * points

    def log_cosh(points: Floats) -> tuple[float, Floats]:
        values = (top - low) * np.log(np.cosh(points)) + low * points**2 / 2
        return float(values.sum(axis=2).mean()), (top - low) * np.tanh(points) + low * points

    def bumps(points: Floats) -> tuple[float, Floats]:
        values = top / 2 * points**2 / (1 + points**2)
        return float(values.sum(axis=2).mean()), top * points / (1 + points**2) ** 2

    if kind < 3:
        return quadratic
    return log_cosh if low >= 0 else bumps


def points(rng: np.random.Generator) -> Floats:
    """Return a random point per worker, (1, WORKERS, ENTRIES), near, middling or far from 0."""
    return rng.normal(size=(1, WORKERS, ENTRIES)) * float(rng.choice([0.01, 1.0, 3.0]))


def between(low: float) -> Draw:
    """Instances (f(x), f(y), grad f(x), y - x)."""

    def draw(rng: np.random.Generator) -> Instance:
        function, here, there = _separable(rng, low), points(rng), points(rng)
        (at_x, slope), (at_y, _) = function(here), function(there)
        return Instance(
            (HERE, THERE, g, z),
            {"g": slope, "z": there - here},
            {HERE: at_x, THERE: at_y},
            LETTERS,
        )

    return draw


def interpolated(low: float) -> Draw:
    """Instances (f(x), f(y), grad f(x), grad f(y), y - x)."""

    def draw(rng: np.random.Generator) -> Instance:
        function, here, there = _separable(rng, low), points(rng), points(rng)
        (at_x, slope), (at_y, slope_there) = function(here), function(there)
        return Instance(
            (HERE, THERE, g, Vector.stack("h"), z),
            {"g": slope, "h": slope_there, "z": there - here},
            {HERE: at_x, THERE: at_y},
            LETTERS,
        )

    return draw


def from_minimum(low: float) -> Draw:
    """Instances (f(x) - f*, grad f(x), x - x*); all our functions have their minimum at 0."""

    def draw(rng: np.random.Generator) -> Instance:
        here = points(rng)
        gap, slope = _separable(rng, low)(here)
        return Instance((HERE, g, z), {"g": slope, "z": here}, {HERE: gap}, LETTERS)

    return draw


def differences(low: float) -> Draw:
    """Instances (grad f(x) - grad f(y), x - y)."""

    def draw(rng: np.random.Generator) -> Instance:
        function, here, there = _separable(rng, low), points(rng), points(rng)
        stacks = {"g": function(here)[1] - function(there)[1], "z": here - there}
        return Instance((g, z), stacks, {}, LETTERS)

    return draw


def within(low: float) -> Draw:
    """Instances (grad f(x_i) - their mean, x_i - mean) for one f and several points."""

    def draw(rng: np.random.Generator) -> Instance:
        here = points(rng)
        stacks = {"g": _separable(rng, low)(here)[1], "z": here}
        return Instance((Vector.deviation("g"), Vector.deviation("z")), stacks, {}, LETTERS)

    return draw
