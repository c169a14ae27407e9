"""Trials of the theorems of `theory.catalogue.d2`."""

from __future__ import annotations

from dataclasses import replace

from theory.trials.common import BENT, FLAT, FROZEN, LOPSIDED, TOO_FAR, broken_by
from theory.trials.trial import Control, Trial

__all__ = ["trials"]

APART = Control("nobody is heard", "perturbation", {"topology": "alone"})
FORGETS = Control("models are mixed, and nothing is taken off", "bound", {"order": "atc"})
EAGER = Control("W runs, (I + W)/2 is claimed", "bound", {"topology": "hypercube"})
REFUSED = Control("an eigenvalue of W is below -1/3", "conditions")
NEGATIVE = Control("an eigenvalue of W is below 0", "conditions")


def trials() -> list[Trial]:
    """Return the trials, controls next to the trial they break."""
    options = {"spectrum": FLAT, "zeta2": 1.0, "sigma2": 0.1}
    ring = Trial("d2", "het", n=4, T=200, gam=0.1, options=options)
    ring = replace(ring, topology="ring,gamma=0.5", order="d2")
    wide = replace(ring, problem="iso", options={"d": 100, "zeta2": 1.0})
    bent = replace(ring, problem="heta", T=60, gam=0.5, options=BENT, n=8, seeds=2)
    cube = Trial("d2-stability", "het", 8, 100, 0.1, {"sigma2": 0.0}, order="d2", seeds=2)
    cube = replace(cube, topology="hypercube,gamma=0.5")
    noisy = Control("gradients are noisy", "noise", {"options": {"sigma2": 1e-6}})
    square = replace(cube, n=4, topology="hypercube")  # its least eigenvalue is -1/3
    return [
        *broken_by(ring, LOPSIDED),
        *broken_by(wide, FROZEN)[1:],
        *broken_by(ring, NEGATIVE, topology="ring")[1:],
        *broken_by(bent, APART, FORGETS),
        *broken_by(cube, EAGER, noisy),
        *broken_by(cube, REFUSED, topology="hypercube")[1:],
        *broken_by(square, TOO_FAR, gam=2.1),
    ]
