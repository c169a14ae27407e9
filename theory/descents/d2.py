"""Stages of the theorems of `theory.catalogue.d2`.

perturbation  P is no more than E|x_i - x*|^2, which the theorem bounds at every step
bound         d2: E|x_i - x*|^2 at the last recorded step. d2-stability: how the root of it grows
"""

from __future__ import annotations

import numpy as np

from theory.catalogue import THEOREMS
from theory.descents.common import (
    Entry,
    Values,
    average,
    constant,
    grows,
    quiet,
    smoothness,
    unbiased,
)
from theory.measured import Measured
from theory.testbed import Floats

__all__ = ["ENTRIES"]


def _apart(measured: Measured, values: Values) -> tuple[Floats, float]:
    d2, steps = THEOREMS["d2"], range(1, int(values["T"]))
    allowed = [d2.at(**{**values, "T": step}) for step in steps]  # at 0 all are together
    return average(measured.spread), float(np.sum(allowed)) / values["T"]


def _away(measured: Measured) -> Floats:
    """Return (1/n) sum |x_i - x*|^2, (S, T); v is the mean model."""
    return measured.spread + measured.error[:, :-1]


def _last(measured: Measured) -> Floats:
    return _away(measured)[:, -1]


def _recorded(values: Values) -> Values:
    return {**values, "T": values["T"] - 1}


def _growth(measured: Measured) -> Floats:
    return grows(_away(measured))


ENTRIES = {
    "d2": Entry(
        {"unbiased": unbiased, "smoothness": smoothness, "perturbation": _apart},
        _last,
        constant,
        _recorded,
    ),
    "d2-stability": Entry({"noise": quiet, "smoothness": smoothness}, _growth, constant),
}
