"""Trials of the theorems of `theory.catalogue.sampling`."""

from __future__ import annotations

from dataclasses import replace

from theory.trials.common import SHARED, TOO_FAR, broken_by
from theory.trials.trial import Trial

__all__ = ["trials"]


def trials() -> list[Trial]:
    """Return the trials, controls next to the trial they break."""
    options = {"samples": 50, "spectrum": (0.05,) * 8, "batch": 1}
    rows = Trial("bsp-sc-sampling", "least_squares", 8, 500, 0.2, options, seeds=8)
    steep = {**options, "spectrum": (0.3, 0.5, 0.7, 1.0)}
    return [
        *broken_by(rows, SHARED),
        *broken_by(rows, TOO_FAR, gam=10.0)[1:],
        replace(rows, options=steep, n=4, T=200, gam=0.02),
    ]
