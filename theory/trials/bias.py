"""Trials of the theorems of `theory.catalogue.bias`: quadratics that bend differently."""

from __future__ import annotations

from dataclasses import replace

from theory.trials.common import BENT, NOISY, TOO_FAR, broken_by
from theory.trials.trial import Control, Trial

__all__ = ["trials"]

ALONE = Control("workers never average", "end", {"H": 192})
SELDOM = Control("rounds have 64 steps, 4 are claimed", "end", {"H": 64})
TWICE = Control("rounds have 8 steps, 4 are claimed", "end", {"H": 8})
LOPSIDED = Control("rows of W add up to 1, columns do not", "identity", {"topology": "lopsided"})
APART = Control("nobody is heard", "end", {"topology": "alone"})
SLOW = Control("a ring runs, a torus is claimed", "end", {"topology": "ring"})


def trials() -> list[Trial]:
    """Return the trials, controls next to the trial they break."""
    local = Trial("local-gd-bias", "heta", n=4, T=192, gam=0.1, options=BENT, H=4, seeds=2)
    ring = replace(local, theorem="gossip-gd-bias", H=1, topology="ring")
    return [
        *broken_by(local, ALONE, SELDOM, TWICE, NOISY),
        *broken_by(local, TOO_FAR, gam=1.5)[1:],
        replace(local, options={**BENT, "zeta2": 1.0}, H=16),
        *broken_by(ring, LOPSIDED, APART, NOISY),
        *broken_by(replace(ring, topology="torus", n=8), SLOW),
    ]
