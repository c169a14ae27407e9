"""Trials of the theorem of `theory.catalogue.cooperative`."""

from __future__ import annotations

from dataclasses import replace

from theory.trials.common import ALONE, FROZEN, SHARED, SLOW, TOO_FAR, broken_by
from theory.trials.trial import Trial

__all__ = ["trials"]


def trials() -> list[Trial]:
    """Return the trials, controls next to the trial they break."""
    far = {"radius": 5.0, "spectrum": (0.1,) * 100}
    ring = Trial("cooperative-sgd", "pseudo_huber", 8, 200, 0.2, far, H=4, topology="ring")
    cube = replace(ring, topology="hypercube")
    flat = replace(cube, options={**far, "spectrum": (0.01,) * 100})
    return [
        *broken_by(ring, ALONE, SHARED),
        *broken_by(flat, SLOW),
        *broken_by(replace(cube, problem="iso", options={"d": 100}), FROZEN)[1:],
        *broken_by(ring, TOO_FAR, gam=15.0)[1:],
        replace(cube, problem="iso", options={"radius": 0.3}, gam=0.05, H=1),
    ]
