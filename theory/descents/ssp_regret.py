"""Stages of the theorems of `theory.catalogue.ssp_regret`: v = x_t, y = the views; n = 1.

views         in how many views an update is in the wrong place, at most
reach         max_t avg (1/2)|x_t - x*|^2 <= Fd^2, over seeds
descent       avg (f(y_t) - f*) <= avg ((e_t - e_{t+1}) / (2 gam_t) + (gam_t / 2)|g_t|^2
                                        + |g_t||y_t - x_t|)
perturbation  avg |y_t - x_t| <= (2 s + 1)(Pw - 1) sqrt(G2) avg gam_t
"""

from __future__ import annotations

import numpy as np

from theory.descents.common import Entry, Sides, Values, average, unbiased
from theory.measured import Measured
from theory.testbed import Floats

__all__ = ["ENTRIES"]


def _steps(values: Values) -> Floats:
    first = values["Fd"] / np.sqrt(2 * values["G2"] * (values["s"] + 1) * values["Pw"])
    steps: Floats = first / np.sqrt(np.arange(int(values["T"])) + 1)
    return steps


def _misplaced(measured: Measured, values: Values) -> tuple[Floats, float]:
    if measured.misplaced is None:
        return np.full(len(measured.error), np.inf), 1.0
    return np.full(len(measured.error), float(measured.misplaced.max())), _most(values)


def _most(values: Values) -> float:
    return (2 * values["s"] + 1) * (values["Pw"] - 1)


def _reach(measured: Measured, values: Values) -> tuple[Floats, float]:
    farthest = measured.error.mean(axis=0).max() / 2
    return np.full(len(measured.error), farthest), values["Fd"] ** 2


def _steepness(measured: Measured, values: Values) -> tuple[Floats, float]:
    return average(measured.steepness), values["G2"]


def _descent(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    steps, e = _steps(values), measured.error
    nearer = (e[:, :-1] - e[:, 1:]) / (2 * steps) + steps / 2 * measured.steepness
    aside = np.sqrt(measured.steepness * measured.spread)
    return average(measured.loss_at_x), average(nearer + aside)


def _views(measured: Measured, values: Values) -> tuple[Floats, float]:
    length = _most(values) * np.sqrt(values["G2"]) * _steps(values).mean()
    return average(np.sqrt(measured.spread)), float(length)


def _regret(measured: Measured) -> Floats:
    return average(measured.loss_at_x)


_STAGES: dict[str, Sides] = {
    "views": _misplaced,
    "reach": _reach,
    "steepness": _steepness,
    "unbiased": unbiased,
    "descent": _descent,
    "perturbation": _views,
}

ENTRIES = {name: Entry(_STAGES, _regret, _steps) for name in ("ssp-regret", "ssp-regret-published")}
