"""Stages of the theorems of `theory.catalogue.error_feedback` and `ef_convex`.

contraction: what a worker keeps, against what it wanted to say. descent, at v = x - mean e:

ef-sgd-convex  e_{t+1} <= e_t - 2 gam (f(x_t) - f*) - (gam/(2 L) - gam^2) |grad f(x_t)|^2
                          + 2 gam L |mean e|^2 + gam^2 sigma2 / n
ef-sgd-sc      e_{t+1} <= (1 - gam mu) e_t - (gam/L - gam^2) |grad f(x_t)|^2
                          + gam L |mean e|^2 + gam^2 sigma2 / n
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from theory.descents.common import (
    Entry,
    Sides,
    Values,
    average,
    entry,
    gradient_at_x,
    last,
    master,
)
from theory.measured import Measured
from theory.testbed import Floats

__all__ = ["ENTRIES"]


def _contraction(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    """What a worker keeps of what it wanted to say; 0 <= 0 if no memories were recorded."""
    if measured.kept is None or measured.pushed is None:
        return np.zeros(len(measured.noise)), np.zeros(len(measured.noise))
    said = (1 - values["delta"]) * average(measured.pushed)
    return average(measured.kept[:, 1:]), said


def _memory(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    """|mean e|^2 <= E, E_{t+1} <= (1 - delta/2) E_t + what is added, summed over t."""
    delta, gam = values["delta"], values["gam"]
    push = (2 - delta) / delta * (average(measured.mean_gradient) + values["zeta2"])
    added = gam**2 * (1 - delta) * (push + values["sigma2"])
    kept = measured.spread if measured.kept is None else measured.kept[:, :-1]
    return average(kept), 2 / delta * added


def _convex(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    gam, L, e = values["gam"], values["L"], measured.error
    left = e[:, 1:] - e[:, :-1] + 2 * gam * measured.loss_at_x
    left = average(left + (gam / (2 * L) - gam**2) * measured.mean_gradient) / gam**2
    return left, 2 * L * average(measured.spread) / gam + values["sigma2"] / values["n"]


def _strongly_convex(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    gam, L, e = values["gam"], values["L"], measured.error
    left = e[:, 1:] - (1 - gam * values["mu"]) * e[:, :-1]
    left = average(left + (gam / L - gam**2) * measured.mean_gradient) / gam**2
    return left, L * average(measured.spread) / gam + values["sigma2"] / values["n"]


def _gap_at_x(measured: Measured) -> Floats:
    return average(measured.loss_at_x)


def _feedback(theorem: str, descent: Sides, left: Callable[[Measured], Floats]) -> Entry:
    usual = entry(theorem, descent, left, perturbation=_memory)
    return replace(usual, stages={**usual.stages, "contraction": _contraction})


ENTRIES = {
    "ef-sgd-nonconvex": _feedback("ef-sgd-nonconvex", master, gradient_at_x),
    "ef-sgd-convex": _feedback("ef-sgd-convex", _convex, _gap_at_x),
    "ef-sgd-sc": _feedback("ef-sgd-sc", _strongly_convex, last),
}
