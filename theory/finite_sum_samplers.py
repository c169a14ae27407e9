"""Random instances of the axioms of finite sums: an outcome is one of the losses f_j."""

from __future__ import annotations

import numpy as np

from theory.forms import Scalar, Vector
from theory.instances import ENTRIES, SMOOTHNESS, Draw, Floats, Instance, points

__all__ = ["SAMPLERS"]

LOSSES = 6

x, y = Vector.mean("x"), Vector.mean("y")
TOTAL, GAP = Scalar("total"), Scalar("gap")


def _drawn(rng: np.random.Generator) -> Instance:
    """Gradients of the losses, the same for every worker, and the variance of one of them."""
    gradients = rng.normal(size=(LOSSES, 1, ENTRIES)) + rng.normal(size=ENTRIES)
    mean = gradients.mean(axis=0, keepdims=True)
    variance = float(((gradients - mean) ** 2).sum(axis=2).mean())
    stacks = {"x": gradients, "y": np.broadcast_to(mean, gradients.shape)}
    return Instance((x, y, TOTAL), stacks, {TOTAL: variance})


def _losses(rng: np.random.Generator) -> Instance:
    """f_j = 1/2 sum_k a_jk x_k^2 + b_jk x_k, a_jk in [0, Lmax], sum_j b_jk = 0, so x* = 0."""
    here: Floats = points(rng)[:, :1]
    curvatures = rng.choice([0.0, 0.5, 1.0], size=(LOSSES, 1, ENTRIES)) * SMOOTHNESS
    if rng.random() < 0.5:
        curvatures = np.round(curvatures / SMOOTHNESS) * SMOOTHNESS  # the extreme ones alone
    gap = float((curvatures * here**2 / 2).sum(axis=2).mean())
    return Instance((GAP, x), {"x": curvatures * here}, {GAP: gap}, {"Lmax": SMOOTHNESS})


SAMPLERS: dict[str, Draw] = {"drawn": _drawn, "expected_smoothness": _losses}
