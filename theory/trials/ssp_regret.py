"""Trials of the theorems of `theory.catalogue.ssp_regret`.

A steep function with a sharp minimum, so that gradients are as long as G2 says almost everywhere.
"""

from __future__ import annotations

from dataclasses import replace

from theory.trials.common import FROZEN, broken_by
from theory.trials.trial import Control, Trial

__all__ = ["trials"]

STEEP = {"d": 1, "L": 20.0, "c": 0.05, "radius": 0.75}
MANY = {"d": 400, "L": 1.0, "c": 0.05, "radius": 0.5}

NO_GATE = Control("nobody waits for the slow one", "views", {"staleness": 900})
STALE = Control("views are 900 clocks old, none is claimed", "perturbation", {"staleness": 900})
FAR = Control("the start is far away", "reach", {"options": {**STEEP, "radius": 9.0}})
LOUD = Control("noise of three times the length", "steepness", {"options": {**MANY, "sigma2": 9.0}})
STEADY = Control("a constant step runs", "identity", {"falling": None, "gam": 0.1})


def trials() -> list[Trial]:
    """Return the trials, controls next to the trial they break."""
    one = Trial("ssp-regret", "huber", n=4, T=400, options=STEEP, staleness=1, falling=0.2)
    fresh = replace(one, staleness=0, T=800, options={**STEEP, "radius": 0.5}, seeds=6)
    many = replace(one, options=MANY)
    smooth = replace(one, problem="pseudo_huber", options={"radius": 1.0}, n=5, falling=0.8)
    public = replace(one, theorem="ssp-regret-published")
    return [
        *broken_by(one, STEADY),
        *broken_by(many, LOUD, FROZEN),
        *broken_by(replace(one, staleness=3, pace="slow"), NO_GATE),
        *broken_by(replace(fresh, pace="oldest"), STALE),
        smooth,
        *broken_by(public, FAR),
        *broken_by(replace(public, staleness=0, pace="slow"), NO_GATE)[1:],
        replace(public, pace="oldest"),
    ]
