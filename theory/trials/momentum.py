"""Trials of the theorem of `theory.catalogue.momentum`."""

from __future__ import annotations

from dataclasses import replace

from theory.trials.common import ALONE, FROZEN, SHARED, TOO_FAR, broken_by
from theory.trials.trial import Control, Trial

__all__ = ["trials"]

FORGOTTEN = Control("momentum 0.9 runs, a step gam is claimed", "identity", {"mom": 0.9})
LESS = Control("momentum 0.9 runs, 0.5 is claimed", "identity", {"mom": 0.9})


def trials() -> list[Trial]:
    """Return the trials, controls next to the trial they break."""
    plain = Trial("momentum-nonconvex", "iso", n=8, T=200, gam=0.1)
    half = replace(plain, mom=0.5)
    heavy = replace(plain, mom=0.9, gam=0.005)
    bumps = replace(heavy, problem="nc", options={"zeta2": 1.0}, n=4)
    return [
        *broken_by(replace(plain, T=400, options={"radius": 0.0}), FORGOTTEN),
        *broken_by(half, LESS, SHARED),
        *broken_by(half, TOO_FAR, gam=0.4)[1:],
        heavy,
        *broken_by(replace(heavy, options={"d": 100}), FROZEN)[1:],
        *broken_by(bumps, ALONE),
        replace(heavy, mom=0.99, gam=0.00005, T=400),
    ]
