"""Stages of the theorems of `theory.catalogue.gd`: no noise at all, and a potential that falls.

gd-convex  V_{t+1} <= V_t,  V_t = e_t + 2 s (f(x_t) - f*) + s (s + 1/L)|grad f(x_t)|^2,  s = t gam
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from theory.descents.common import Values, entry, quiet
from theory.measured import Measured
from theory.testbed import Floats

__all__ = ["ENTRIES"]


def _falling(measured: Measured, values: Values) -> tuple[Floats, float]:
    """Return the largest V_{t+1} / V_t of each seed."""
    s = values["gam"] * np.arange(int(values["T"]))
    paid = 2 * s * measured.loss[:, :-1] + s * (s + 1 / values["L"]) * measured.gradient
    v = measured.error[:, :-1] + paid
    rises = np.divide(v[:, 1:], v[:, :-1], out=np.zeros_like(v[:, 1:]), where=v[:, :-1] > 0)
    return rises.max(axis=1, initial=0.0), 1.0


def _gap_at_the_end(measured: Measured) -> Floats:
    return measured.loss[:, -1]


_USUAL = entry("gd-convex", _falling, _gap_at_the_end)

ENTRIES = {"gd-convex": replace(_USUAL, stages={**_USUAL.stages, "noise": quiet})}
