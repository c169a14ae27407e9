"""Stages of the theorem of `theory.catalogue.pairwise`.

g_i is n times the gradient of the worker whose turn it is, and 0 for the others. So the mean model
moves by gam/n times the mean of g, and the square of that mean is, on average, the mean square of
all gradients.

steepness  avg |mean g|^2 <= G2
unbiased   turns are even: (1/n) sum_i |sum_t (g_i - grad f_i(x_i))|^2 / T <= n G2
descent    A + B <= 2 n (f(v_0) - f(v_T)) / (gam T) + gam L G2 / n + Q
"""

from __future__ import annotations

import numpy as np

from theory.descents.common import Entry, Sides, Values, average, gradient, lemma, smoothness
from theory.measured import Measured
from theory.testbed import Floats

__all__ = ["ENTRIES"]


def _steps(values: Values) -> Floats:
    return np.full(int(values["T"]), values["gam"] / values["n"])


def _steepness(measured: Measured, values: Values) -> tuple[Floats, float]:
    return average(measured.steepness) / values["n"], values["G2"]


def _even(measured: Measured, values: Values) -> tuple[Floats, float]:
    return measured.drift, values["n"] * values["G2"]


def _descent(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    step, L = values["gam"] / values["n"], values["L"]
    fallen = measured.loss[:, 0] - measured.loss[:, -1]
    right = 2 * fallen / (step * values["T"]) + step * L * values["G2"]
    left = average(measured.gradient) + average(measured.mean_gradient)
    return left, right + average(measured.deviation)


_STAGES: dict[str, Sides] = {
    "steepness": _steepness,
    "unbiased": _even,
    "descent": _descent,
    "smoothness": smoothness,
    "perturbation": lemma("adpsgd-sync"),
}

ENTRIES = {"adpsgd-sync": Entry(_STAGES, gradient, _steps)}
