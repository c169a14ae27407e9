"""Trials of the theorems of `theory.catalogue.local_sgd`."""

from __future__ import annotations

from dataclasses import replace

from theory.trials.common import ALONE, FLAT, FROZEN, SHARED, TOO_FAR, broken_by
from theory.trials.trial import Trial

__all__ = ["trials"]


def trials() -> list[Trial]:
    """Return the trials, controls next to the trial they break."""
    sc = Trial("local-sgd-sc-iid", "iso", 8, 200, 0.1, {"radius": 0.2}, H=4)
    flat = replace(sc, problem="spec", options={"spectrum": FLAT, "radius": 0.3})
    iid = Trial("local-sgd-nonconvex-iid", "nc", n=8, T=200, gam=0.05, H=4)
    convex = Trial("local-sgd-convex-iid", "pseudo_huber", 8, 200, 0.2, {"radius": 5.0}, H=4)
    het = replace(iid, theorem="local-sgd-nonconvex", options={"zeta2": 1.0})
    return [
        *broken_by(sc, ALONE, SHARED),
        flat,
        *broken_by(convex, ALONE, SHARED),
        *broken_by(replace(convex, problem="iso", options={"d": 100}), FROZEN)[1:],
        *broken_by(convex, TOO_FAR, gam=1.5)[1:],
        replace(convex, problem="iso", options={"radius": 0.3}, H=8),
        *broken_by(iid, ALONE, SHARED),
        *broken_by(replace(iid, options={"d": 100}), FROZEN)[1:],
        *broken_by(het, ALONE, SHARED),
        replace(het, options={"zeta2": 0.1}, H=10, gam=0.02),
    ]
