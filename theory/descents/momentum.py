"""Stages of the theorem of `theory.catalogue.momentum`: y_i = x, v = x - eta mom m.

descent       the master lemma with the step of v, eta = gam / (1 - mom)
perturbation  avg |x - v|^2 <= 2 eta^2 mom^2 (avg |grad f(x)|^2 / (1 - mom)^2
                                             + sigma2 / (n (1 - mom^2))), measured gradients
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from theory.descents.common import Values, average, entry, gradient_at_x, master
from theory.measured import Measured
from theory.testbed import Floats

__all__ = ["ENTRIES"]


def _eta(values: Values) -> float:
    return values["gam"] / (1 - values["mom"])


def _steps(values: Values) -> Floats:
    return np.full(int(values["T"]), _eta(values))


def _descent(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    return master(measured, {**values, "gam": _eta(values)})


def _ahead(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    """What the momentum remembers."""
    mom = values["mom"]
    drift = average(measured.mean_gradient) / (1 - mom) ** 2
    noise = values["sigma2"] / (values["n"] * (1 - mom**2))
    return average(measured.spread), 2 * (_eta(values) * mom) ** 2 * (drift + noise)


_PLAIN = entry("momentum-nonconvex", _descent, gradient_at_x, perturbation=_ahead)

ENTRIES = {"momentum-nonconvex": replace(_PLAIN, steps=_steps)}
