"""Stages of the theorem of `theory.catalogue.tracking`, without noise.

perturbation  |x~| is at most V over its weight there, and V shrinks by 1 - gam mu/2 a step
"""

from __future__ import annotations

from theory.catalogue import THEOREMS
from theory.catalogue.tracking import APART
from theory.descents.common import Entry, Values, average, constant, last, quiet, smoothness
from theory.evaluation import Evaluated
from theory.measured import Measured
from theory.testbed import Floats

__all__ = ["ENTRIES"]

NAME = "gradient-tracking"
_WEIGHT = Evaluated(NAME, APART)


def _apart(measured: Measured, values: Values) -> tuple[Floats, float]:
    steps = range(1, int(values["T"]))  # at 0 all are together
    allowed = sum(THEOREMS[NAME].at(**{**values, "T": step}) for step in steps)
    return average(measured.spread), allowed / _WEIGHT(values) ** 2 / values["T"]


ENTRIES = {
    NAME: Entry({"noise": quiet, "smoothness": smoothness, "perturbation": _apart}, last, constant)
}
