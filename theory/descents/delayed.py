"""Stages of the theorems of `theory.catalogue.delayed`: one gradient a step, so n = 1.

perturbation  avg |x_t - y_t|^2 <= 2 gam^2 (taumax tauC avg |m|^2 + tauavg sigma2), |m|^2 measured
delays        largest and mean delay, and gradients under way, against what is claimed
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from theory.descents.common import Entry, Values, average, entry, gradient, master
from theory.events import Delays
from theory.measured import Measured
from theory.testbed import Floats

__all__ = ["ENTRIES"]


def _missed(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    """What the server took in between read and push."""
    drift = values["taumax"] * values["tauC"] * average(measured.mean_gradient)
    noise = values["tauavg"] * values["sigma2"]
    return average(measured.spread), 2 * values["gam"] ** 2 * (drift + noise)


def _delays(measured: Measured, values: Values) -> tuple[Floats, float]:
    """Return the largest measured / claimed of all seeds: delays are counts, not estimates."""
    if measured.delays is None:
        return np.full(len(measured.noise), np.inf), 1.0
    found = [Delays.of(one) for one in measured.delays]
    worst = max(
        max(
            _share(one.longest, values["taumax"]),
            _share(one.under_way, values["tauC"]),
            _share(one.mean, values["tauavg"]),
        )
        for one in found
    )
    return np.full(len(found), worst), 1.0


def _share(measured: float, claimed: float) -> float:
    if measured == 0:
        return 0.0
    return measured / claimed if claimed else np.inf


def _delayed(theorem: str) -> Entry:
    usual = entry(theorem, master, gradient, perturbation=_missed)
    return replace(usual, stages={"delays": _delays, **usual.stages})


ENTRIES = {name: _delayed(name) for name in ("asgd-nonconvex", "ssp-nonconvex")}
