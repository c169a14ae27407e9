"""Stages of the theorems of `theory.catalogue.sampling`: the noise depends on where it is drawn.

bsp-sc-sampling  E|xi_i|^2 <= 4 Lmax (f(x) - f*) + 2 ss - |grad f(x)|^2,  S = L (1 - 1/n) + 2 Lmax/n
                 e_{t+1} <= (1 - gam mu) e_t - 2 gam (1 - gam S)(f(x_t) - f*) + 2 gam^2 ss / n
"""

from __future__ import annotations

from dataclasses import replace

from theory.descents.common import Values, average, entry, last
from theory.measured import Measured
from theory.testbed import Floats

__all__ = ["ENTRIES"]


def _variance(measured: Measured, values: Values) -> Floats:
    """Return the largest that the variance of one worker may be, averaged over t, (S,)."""
    away = 4 * values["Lmax"] * average(measured.loss[:, :-1])
    return away + 2 * values["ss"] - average(measured.mean_gradient)


def _noise(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    return average(measured.noise), _variance(measured, values) / values["n"]


def _unbiased(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    return measured.drift, _variance(measured, values)


def _descent(measured: Measured, values: Values) -> tuple[Floats, float]:
    gam, n, e = values["gam"], values["n"], measured.error
    seen = values["L"] * (1 - 1 / n) + 2 * values["Lmax"] / n
    paid = 2 * gam * (1 - gam * seen) * measured.loss[:, :-1]
    left = e[:, 1:] - (1 - gam * values["mu"]) * e[:, :-1] + paid
    return average(left) / gam**2, 2 * values["ss"] / n


_USUAL = entry("bsp-sc-sampling", _descent, last)
_OWN = {"noise": _noise, "unbiased": _unbiased}

ENTRIES = {"bsp-sc-sampling": replace(_USUAL, stages={**_USUAL.stages, **_OWN})}
