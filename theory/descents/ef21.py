"""Stages of the theorem of `theory.catalogue.ef21`; G_t = (1/n) sum |c_i - g_i|^2.

contraction   avg G_t <= (1 - delta) avg (1/n) sum |g_i - c_i|^2, c_i of the message before
smoothness    avg (1/n) sum |grad f_i(x_{t+1}) - grad f_i(x_t)|^2 <= Ltil^2 avg |x_{t+1} - x_t|^2
descent       A + (1 - gam L) avg |mean c|^2 <= 2 (f(x_0) - f(x_T)) / (gam T) + avg |mean c - m|^2
perturbation  theta avg G_t <= G_0 / T + (1 - delta)/theta Ltil^2 avg |x_{t+1} - x_t|^2
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from theory.descents.common import Values, average, entry, gradient
from theory.measured import Measured
from theory.testbed import Floats

__all__ = ["ENTRIES"]


def _contraction(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    """What is believed comes closer to the truth with every message."""
    words = measured.words
    return average(words.wrong), (1 - values["delta"]) * average(words.news)


def _moved(measured: Measured, values: Values) -> Floats:
    """Return avg |x_{t+1} - x_t|^2 over all steps but the last, as sums over T."""
    heard = measured.words.heard.copy()
    heard[:, -1] = 0
    return values["gam"] ** 2 * average(heard)


def _smoothness(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    """Gradients move with x, on average over workers."""
    return average(measured.words.change), values["Ltil"] ** 2 * _moved(measured, values)


def _descent(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    """The descent lemma along -mean c, summed over t."""
    words, gam = measured.words, values["gam"]
    left = average(measured.gradient) + (1 - gam * values["L"]) * average(words.heard)
    fallen = measured.loss[:, 0] - measured.loss[:, -1]
    return left, 2 * fallen / (gam * values["T"]) + average(words.heard_wrong)


def _lemma(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    """G shrinks by 1 - theta and grows with what gradients move."""
    theta = 1 - np.sqrt(1 - values["delta"])
    grown = (1 - values["delta"]) / theta * values["Ltil"] ** 2 * _moved(measured, values)
    return theta * average(measured.words.wrong), values["G0"] / values["T"] + grown


_USUAL = entry("ef21", _descent, gradient, perturbation=_lemma)

ENTRIES = {
    "ef21": replace(
        _USUAL,
        stages={**_USUAL.stages, "smoothness": _smoothness, "contraction": _contraction},
        heard=True,
    )
}
