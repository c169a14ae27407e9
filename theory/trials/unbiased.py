"""Trials of the theorems of `theory.catalogue.unbiased`."""

from __future__ import annotations

from dataclasses import replace

from theory.trials.common import FLAT, SHARED, TOO_FAR, broken_by
from theory.trials.trial import Control, Trial

__all__ = ["trials"]

BIASED = Control("top-2 runs, a random 2 are claimed", "faithful", {"compressor": "topk"})
FEWER = Control("2 entries are sent, 5 are claimed", "compression", {"k": 2})
ONE_MASK = Control("one mask for all, own ones are claimed", "compression", {"masks": "shared"})
OWN_MASKS = Control("own masks, one for all is claimed", "compression", {"masks": "own"})


def trials() -> list[Trial]:
    """Return the trials, controls next to the trial they break."""
    mask = Trial("qsgd-nonconvex", "iso", n=4, T=200, gam=0.2, compressor="randk", k=5)
    mask = replace(mask, options={"zeta2": 1.0}, memory=False)
    exact = replace(mask, options={"sigma2": 0.0})
    levels = replace(mask, problem="nc", compressor="qsgd", k=1, gam=0.1)
    one = replace(mask, theorem="qsgd-nonconvex-shared", masks="shared")
    return [
        *broken_by(mask, FEWER, SHARED),
        *broken_by(replace(mask, k=2), BIASED)[1:],
        *broken_by(mask, TOO_FAR, gam=1.7)[1:],
        *broken_by(exact, ONE_MASK),
        replace(mask, problem="spec", options={"spectrum": FLAT}, gam=0.5),
        levels,
        replace(levels, k=4),
        *broken_by(one, FEWER),
        *broken_by(replace(one, options={"zeta2": 4.0}), OWN_MASKS)[1:],
        *broken_by(one, TOO_FAR, gam=1.2)[1:],
        replace(one, problem="nc", gam=0.1),
    ]
