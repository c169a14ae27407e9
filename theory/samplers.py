"""Random instances of the axioms, to see that they hold, and that stronger ones would not."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import sympy as sp

from theory.axioms import AXIOMS
from theory.compressor_samplers import SAMPLERS as OF_COMPRESSORS
from theory.delay_samplers import SAMPLERS as OF_DELAYS
from theory.finite_sum_samplers import SAMPLERS as OF_FINITE_SUMS
from theory.forms import Scalar, Vector
from theory.instances import (
    CURVATURE,
    ENTRIES,
    SMOOTHNESS,
    WORKERS,
    Draw,
    Floats,
    Instance,
    between,
    differences,
    from_minimum,
    interpolated,
    points,
    within,
)
from theory.length_samplers import SAMPLERS as OF_LENGTHS
from theory.neighbour_samplers import SAMPLERS as OF_NEIGHBOURS
from theory.pairwise_samplers import SAMPLERS as OF_PAIRS
from theory.stability_samplers import SAMPLERS as OF_STABILITY
from theory.view_samplers import SAMPLERS as OF_VIEWS

__all__ = ["SAMPLERS", "sample"]

x, y = Vector.stack("x"), Vector.stack("y")
TOTAL = Scalar("total")


def sample(name: str, rng: np.random.Generator) -> dict[str, float]:
    """Return the terms of a random instance of the axiom `name`, as numbers by label."""
    instance = SAMPLERS[name](rng)
    terms = AXIOMS[name].terms(*instance.arguments)
    return {label: instance.value(form) for label, form in terms.items()}


# --- noise and workers ----------------------------------------------------------------------------


def _noise(rng: np.random.Generator) -> Floats:
    """Return all sign patterns over workers, each worker with a scale of its own."""
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=WORKERS)))
    return signs[:, :, None] * rng.normal(size=(1, WORKERS, ENTRIES))


def _known_and_noise(rng: np.random.Generator) -> Instance:
    noise = _noise(rng)
    known = np.broadcast_to(points(rng), noise.shape)
    return Instance((x, y), {"x": known, "y": noise})


def _mean_of_noise(rng: np.random.Generator) -> Instance:
    noise = _noise(rng)
    total = float((noise**2).sum(axis=2).mean())
    return Instance((x, TOTAL), {"x": noise}, {TOTAL: total}, {"n": WORKERS})


def _gossip(rng: np.random.Generator) -> Instance:
    """A ring with a random self weight; now and then its slowest vector."""
    loop = np.eye(WORKERS)
    weight = rng.uniform(0.1, 0.45)
    matrix = (1 - 2 * weight) * loop + weight * (np.roll(loop, 1, 0) + np.roll(loop, -1, 0))
    left, values, _ = np.linalg.svd(matrix - 1 / WORKERS)
    before = points(rng)
    if rng.random() < 0.5:
        before = np.broadcast_to(left[:, :1], (1, WORKERS, ENTRIES))
    after = np.einsum("ij,mjd->mid", matrix, before)
    arguments = (Vector.deviation("x"), Vector.deviation("y"))
    return Instance(arguments, {"x": before, "y": after}, {}, {"lam": float(values[0])})


def _top_one(rng: np.random.Generator) -> Instance:
    """Top-1 of each worker's vector; delta = 1/d, attained by equal magnitudes."""
    vector = points(rng) if rng.random() < 0.5 else np.sign(points(rng))
    error = vector.copy()
    np.put_along_axis(error, np.abs(vector).argmax(axis=2)[:, :, None], 0.0, axis=2)
    return Instance((x, y), {"x": vector, "y": error}, {}, {"delta": 1 / ENTRIES})


# --- geometry -------------------------------------------------------------------------------------


def _pair(rng: np.random.Generator) -> tuple[Floats, Floats]:
    first = points(rng)
    return first, first * rng.choice([1.0, 2.0]) if rng.random() < 0.5 else points(rng)


def _squares(rng: np.random.Generator) -> Instance:
    return Instance((x,), {"x": points(rng)})


def _split(rng: np.random.Generator) -> Instance:
    stack = points(rng)
    return Instance((x, TOTAL), {"x": stack}, {TOTAL: float((stack**2).sum(axis=2).mean())})


def _young(rng: np.random.Generator) -> Instance:
    first, second = _pair(rng)
    return Instance((x, y, sp.Rational(int(rng.integers(1, 4)))), {"x": first, "y": second})


def _minkowski(rng: np.random.Generator) -> Instance:
    first, second = _pair(rng)
    first, second = (stack - stack.mean(axis=1, keepdims=True) for stack in (first, second))
    parts = Vector.deviation("x") - sp.Integer(2) * Vector.deviation("y")
    stacks = {"x": first, "y": -second, "z": first + 2 * second}
    return Instance((Vector.deviation("z"), parts), stacks)


def _growth(rng: np.random.Generator) -> Instance:
    drawn = from_minimum(CURVATURE)(rng)
    gap, _, offset = drawn.arguments
    return replace(drawn, arguments=(gap, offset))


def _exponential(rng: np.random.Generator) -> Instance:
    return Instance((sp.Float(rng.choice([0.0, rng.normal()])),))


# Where the sharpest constant of the axiom needs it, functions may curve downwards.
CONCAVE = -SMOOTHNESS / 4

SAMPLERS: dict[str, Draw] = {
    "descent": between(CONCAVE),
    "convex_lower": between(0.0),
    "strong_convex_gap": from_minimum(CURVATURE),
    "convex_smooth_gap": from_minimum(0.0),
    "interpolation": interpolated(0.0),
    "quadratic_growth": _growth,
    "cocoercive_pairs": within(0.0),
    "strongly_cocoercive": differences(CURVATURE),
    "smooth": differences(CONCAVE),
    "expanding": differences(CURVATURE),
    "martingale_orthogonal": _known_and_noise,
    "independent": _mean_of_noise,
    "mixing": _gossip,
    "contraction": _top_one,
    "square": _squares,
    "pythagoras": _split,
    "young": _young,
    "minkowski": _minkowski,
    "exponential": _exponential,
    **OF_COMPRESSORS,
    **OF_DELAYS,
    **OF_FINITE_SUMS,
    **OF_LENGTHS,
    **OF_NEIGHBOURS,
    **OF_PAIRS,
    **OF_STABILITY,
    **OF_VIEWS,
}
