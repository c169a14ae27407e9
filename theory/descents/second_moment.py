"""Stages of the theorems of `theory.catalogue.second_moment` and `one_peer`.

steepness  avg (1/n) sum |g_i|^2 <= G2
descent    the master lemma with the step of v, eta = gam / (1 - mom)
delays     the longest delay, where it was recorded, against tau
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from theory.descents.common import Entry, Values, average, entry, gradient, master
from theory.measured import Measured
from theory.testbed import Floats

__all__ = ["ENTRIES"]


def _eta(values: Values) -> float:
    return values["gam"] / (1 - values["mom"])


def _steps(values: Values) -> Floats:
    return np.full(int(values["T"]), _eta(values))


def _descent(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    return master(measured, {**values, "gam": _eta(values)})


def _steepness(measured: Measured, values: Values) -> tuple[Floats, float]:
    """Gradients, with their noise, are bounded."""
    return average(measured.steepness), values["G2"]


def _bounded(theorem: str) -> Entry:
    plain = entry(theorem, master, gradient)
    return replace(plain, stages={"steepness": _steepness, **plain.stages})


def _ahead(theorem: str) -> Entry:
    """A theorem with momentum: v moves by eta, not by gam."""
    plain = _bounded(theorem)
    return replace(plain, stages={**plain.stages, "descent": _descent}, steps=_steps)


def _delays(measured: Measured, values: Values) -> tuple[Floats, float]:
    if measured.delays is None:
        return np.zeros(len(measured.noise)), values["tau"]
    return measured.delays.max(axis=1).astype(np.float64), values["tau"]


_ALL = _ahead("composition-G")

ENTRIES = {
    "pr-sgd": _bounded("pr-sgd"),
    "post-local-sgd": _bounded("post-local-sgd"),
    "one-peer-exp": _bounded("one-peer-exp"),
    "local-momentum-G": _ahead("local-momentum-G"),
    "composition-G": replace(_ALL, stages={"delays": _delays, **_ALL.stages}),
}
