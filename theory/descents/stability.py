"""Stages of the theorem of `theory.catalogue.stability`: no noise, and one delay for all steps.

perturbation  avg |x_t - x_{t-tau}|^2 <= gam^2 tau^2 avg |m|^2
bound         the factor by which |x_t - x*| grows in a step: the largest of the last quarter of a
              run over that of the quarter before, per step
"""

from __future__ import annotations

from theory.descents.common import Entry, Sides, Values, average, constant, grows, quiet, smoothness
from theory.measured import Measured
from theory.testbed import Floats

__all__ = ["ENTRIES"]


def _late(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    moved = (values["gam"] * values["tau"]) ** 2 * average(measured.mean_gradient)
    return average(measured.spread), moved


def _growth(measured: Measured) -> Floats:
    return grows(measured.error)


_STAGES: dict[str, Sides] = {"noise": quiet, "smoothness": smoothness, "perturbation": _late}

ENTRIES = {"delay-stability": Entry(_STAGES, _growth, constant)}
