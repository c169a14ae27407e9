"""Trials of the theorem of `theory.catalogue.pairwise`."""

from __future__ import annotations

from dataclasses import replace

from theory.trials.common import FROZEN, broken_by
from theory.trials.trial import Control, Trial

__all__ = ["trials"]

STRANGERS = Control("nobody meets", "perturbation", {"topology": "alone"})
ALWAYS = Control("one worker has every turn", "unbiased", {"pace": "first"})
LOUD = Control("noise of three times the length", "steepness", {"options": {"sigma2": 9.0}})
TOGETHER = Control("all workers step at once", "identity", {"order": "atc"})


def trials() -> list[Trial]:
    """Return the trials, controls next to the trial they break."""
    ring = Trial("adpsgd-sync", "nc", n=8, T=400, gam=0.1, topology="ring", order="pairs")
    far = {"d": 2, "zeta2": 25.0, "sigma2": 0.5}
    flat = {"zeta2": 25.0, "sigma2": 0.1, "spectrum": (0.1,) * 10}
    complete = replace(ring, topology="complete", options=far)
    return [
        *broken_by(ring, LOUD),
        *broken_by(complete, ALWAYS, STRANGERS, TOGETHER),
        *broken_by(replace(complete, options={"d": 100}), FROZEN)[1:],
        replace(complete, problem="pseudo_huber", options=flat, n=4),
        replace(ring, topology="hypercube", options=far),
    ]
