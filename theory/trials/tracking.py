"""Trials of the theorem of `theory.catalogue.tracking`."""

from __future__ import annotations

from dataclasses import replace

from theory.trials.common import BENT, LOPSIDED, NOISY, TOO_FAR, broken_by
from theory.trials.trial import Control, Trial

__all__ = ["trials"]

APART = Control("nobody is heard", "perturbation", {"topology": "alone"})
OWN = Control("workers move along their own gradients", "bound", {"order": "atc"})


def trials() -> list[Trial]:
    """Return the trials, controls next to the trial they break."""
    ring = Trial("gradient-tracking", "heta", 4, 600, 0.05, BENT, topology="ring", seeds=2)
    ring = replace(ring, order="tracking")
    return [
        *broken_by(ring, LOPSIDED, APART, OWN, NOISY),
        *broken_by(ring, TOO_FAR, gam=0.06)[1:],
        replace(ring, problem="het", options={"sigma2": 0.0, "spectrum": (0.5, 1.0)}),
    ]
