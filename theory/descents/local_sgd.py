"""Stages of the theorems of `theory.catalogue.local_sgd` and `local_sgd_convex`.

local-sgd-convex-iid  e_{t+1} <= e_t - 2 gam (f(v_t) - f*) + gam L D_t + gam^2 sigma2 / n
local-sgd-sc-iid      e_{t+1} <= (1 - gam mu) e_t + gam L (1 + gam L) D_t + gam^2 sigma2 / n
"""

from __future__ import annotations

from theory.descents.common import Values, average, entry, gap, gradient, last, master
from theory.measured import Measured
from theory.testbed import Floats

__all__ = ["ENTRIES"]


def _convex(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    gam, e = values["gam"], measured.error
    left = e[:, 1:] - e[:, :-1] + 2 * gam * measured.loss[:, :-1]
    drift = values["L"] * average(measured.spread) / gam
    return average(left) / gam**2, drift + values["sigma2"] / values["n"]


def _strongly_convex(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    gam, L, e = values["gam"], values["L"], measured.error
    left = e[:, 1:] - (1 - gam * values["mu"]) * e[:, :-1]
    drift = L * (1 + gam * L) * average(measured.spread) / gam
    return average(left) / gam**2, drift + values["sigma2"] / values["n"]


def _walks(measured: Measured, values: Values) -> tuple[Floats, float]:
    """Equal convex f_i: D_k <= k gam^2 sigma2 (1 - 1/n) after k local steps; averaged over k."""
    one = values["gam"] ** 2 * values["sigma2"] * (1 - 1 / values["n"])
    return average(measured.spread), one * (values["H"] - 1) / 2


ENTRIES = {
    "local-sgd-nonconvex": entry("local-sgd-nonconvex", master, gradient),
    "local-sgd-nonconvex-iid": entry("local-sgd-nonconvex-iid", master, gradient),
    "local-sgd-convex-iid": entry("local-sgd-convex-iid", _convex, gap),
    "local-sgd-sc-iid": entry("local-sgd-sc-iid", _strongly_convex, last, perturbation=_walks),
}
