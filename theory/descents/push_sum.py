"""Stages of the theorem of `theory.catalogue.push_sum`, which has no gradients.

perturbation  what the theorem says of T, at every step: |z_t - xbar| <= skew lam^t |z_0 - xbar|
"""

from __future__ import annotations

import numpy as np

from theory.descents.common import Entry, Values, constant, disagreement, relative
from theory.measured import Measured
from theory.testbed import Floats

__all__ = ["ENTRIES"]


def _always(measured: Measured, values: Values) -> tuple[Floats, float]:
    """Return the largest share of the promise per seed; less than rounding is not promised."""
    apart, start = np.sqrt(measured.spread), np.sqrt(measured.spread[:, :1])
    promised = values["skew"] * values["lam"] ** np.arange(apart.shape[1])
    promised = np.maximum(promised, measured.tolerance) * start
    return np.divide(apart, promised, out=np.zeros_like(apart), where=apart > 0).max(axis=1), 1.0


ENTRIES = {"push-sum": Entry({"perturbation": _always}, disagreement, constant, relative)}
