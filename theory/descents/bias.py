"""Stages of the theorems of `theory.catalogue.bias`: no noise, and on quadratics a known end.

A round, or a step of gossip, contracts by rho = 1 - gam mu a step, towards where it ends (the
letters `end` and `way` are from `theory.ends`):

end           | |v_T - x*| - |mean of ends - x*| | <= rho^T |x_0 - ends|
"""

from __future__ import annotations

import numpy as np

from theory.descents.common import Entry, Sides, Values, constant, last, quiet, smoothness
from theory.measured import Measured
from theory.testbed import Floats

__all__ = ["ENTRIES"]


def _end(measured: Measured, values: Values) -> tuple[Floats, float]:
    left = (1 - values["gam"] * values["mu"]) ** values["T"]
    return np.abs(np.sqrt(last(measured)) - values["end"]), left * values["way"]


_STAGES: dict[str, Sides] = {"noise": quiet, "smoothness": smoothness, "end": _end}

ENTRIES = {
    "local-gd-bias": Entry(_STAGES, last, constant),
    "gossip-gd-bias": Entry(_STAGES, last, constant),
}
