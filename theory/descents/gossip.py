"""Stages of the theorems of `theory.catalogue.gossip`.

gossip-consensus has no gradients: its perturbation stage is the contraction of every step,
|X_{t+1} - J X_{t+1}| <= lam |X_t - J X_t|.
"""

from __future__ import annotations

import numpy as np

from theory.descents.common import Entry, Values, constant, entry, gradient, master
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


def _disagreement(measured: Measured) -> Floats:
    """|X - J X|_F at the last recorded step over that of the start; rounding is zero."""
    start, last = np.sqrt(measured.spread[:, 0]), np.sqrt(measured.spread[:, -1])
    left = np.where(last > measured.tolerance * start, last, 0.0)
    return np.divide(left, start, out=np.zeros_like(left), where=start > 0)


def _relative(values: Values) -> Values:
    return {**values, "T": values["T"] - 1, "C0": 1.0}


ENTRIES = {
    "gossip-consensus": Entry({"perturbation": _mixing}, _disagreement, constant, _relative),
    "dpsgd-nonconvex-atc": entry("dpsgd-nonconvex-atc", master, gradient),
    "dpsgd-nonconvex-cta": entry("dpsgd-nonconvex-cta", master, gradient),
}
