"""Stages of the theorems of `theory.catalogue.bsp`.

bsp-sc-const       e_{t+1} <= rho^2 e_t + gam^2 sigma2 / n
bsp-sc-decreasing  e_{t+1} <= (1 - gam_t mu)^2 e_t + gam_t^2 sigma2 / n
bsp-convex         e_{t+1} <= e_t - 2 gam (f(v_t) - f*) + gam^2 sigma2 / n
"""

from __future__ import annotations

import numpy as np

from theory.descents.common import Values, average, entry, gap, gradient, last, master
from theory.measured import Measured
from theory.testbed import Floats

__all__ = ["ENTRIES"]


def _decreasing(values: Values) -> Floats:
    steps: Floats = 1 / (values["mu"] * (np.arange(int(values["T"])) + values["a"]))
    return steps


def _const(measured: Measured, values: Values) -> tuple[Floats, float]:
    gam, e = values["gam"], measured.error
    rho2 = max(abs(1 - gam * values["mu"]), abs(1 - gam * values["L"])) ** 2
    return (e[:, 1:] - rho2 * e[:, :-1]).mean(axis=1) / gam**2, values["sigma2"] / values["n"]


def _shrinking(measured: Measured, values: Values) -> tuple[Floats, float]:
    gam, e = _decreasing(values), measured.error
    left = (e[:, 1:] - (1 - gam * values["mu"]) ** 2 * e[:, :-1]) / gam**2
    return average(left), values["sigma2"] / values["n"]


def _convex(measured: Measured, values: Values) -> tuple[Floats, float]:
    gam, e = values["gam"], measured.error
    left = e[:, 1:] - e[:, :-1] + 2 * gam * measured.loss[:, :-1]
    return average(left) / gam**2, values["sigma2"] / values["n"]


ENTRIES = {
    "bsp-nonconvex": entry("bsp-nonconvex", master, gradient),
    "bsp-sc-const": entry("bsp-sc-const", _const, last),
    "bsp-sc-decreasing": entry("bsp-sc-decreasing", _shrinking, last, steps=_decreasing),
    "bsp-convex": entry("bsp-convex", _convex, gap),
}
