"""Stages of the theorems of `theory.catalogue.gossip`.

gossip-consensus has no gradients: its perturbation stage is the contraction of every step,
|X_{t+1} - J X_{t+1}| <= lam |X_t - J X_t|.
"""

from __future__ import annotations

import numpy as np

from theory.descents.common import (
    Entry,
    Values,
    constant,
    disagreement,
    entry,
    gradient,
    master,
    relative,
)
from theory.measured import Measured
from theory.testbed import Floats

__all__ = ["ENTRIES"]


def _mixing(measured: Measured, values: Values) -> tuple[Floats, float]:
    """Return the largest factor of a step per seed, while more than rounding is left."""
    norm = np.sqrt(measured.spread)
    before, after, start = norm[:, :-1], norm[:, 1:], norm[:, :1]
    seen = before > np.sqrt(measured.tolerance) * start
    left = np.where(after > measured.tolerance * start, after, 0.0)
    factor = np.divide(left, before, out=np.zeros_like(left), where=seen)
    return factor.max(axis=1), values["lam"]


ENTRIES = {
    "gossip-consensus": Entry({"perturbation": _mixing}, disagreement, constant, relative),
    "dpsgd-nonconvex-atc": entry("dpsgd-nonconvex-atc", master, gradient),
    "dpsgd-nonconvex-cta": entry("dpsgd-nonconvex-cta", master, gradient),
}
