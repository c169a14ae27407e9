"""Trials of the theorems of `theory.catalogue.bsp`."""

from __future__ import annotations

from dataclasses import replace

from theory.trials.common import CONSTANT, FLAT, FROZEN, LONG, SHARED, TOO_FAR, broken_by
from theory.trials.trial import Trial

__all__ = ["trials"]


def trials() -> list[Trial]:
    """Return the trials, controls next to the trial they break."""
    iso = Trial("bsp-nonconvex", "iso", n=8, T=200, gam=0.2)
    nc = Trial("bsp-nonconvex", "nc", n=4, T=200, gam=0.2)
    exact = replace(nc, options={"sigma2": 0.0}, seeds=2)  # no noise: gradients to rounding
    const = Trial("bsp-sc-const", "iso", n=8, T=200, gam=0.3)
    spec = replace(const, problem="spec", options={"spectrum": FLAT}, gam=0.5)
    mean = Trial("bsp-sc-decreasing", "iso", n=8, T=200, offset=1.0)
    fast = replace(mean, problem="spec", options={"spectrum": FLAT}, offset=5.5)
    convex = Trial("bsp-convex", "spec", n=8, T=200, gam=0.5)
    return [
        *broken_by(iso, SHARED),
        *broken_by(replace(iso, options={"d": 100}), FROZEN)[1:],
        *broken_by(iso, TOO_FAR, gam=2.5)[1:],
        nc,
        *broken_by(exact, LONG),
        *broken_by(const, SHARED),
        *broken_by(const, TOO_FAR, gam=2.5)[1:],
        spec,
        *broken_by(mean, SHARED, CONSTANT),
        fast,
        *broken_by(convex, SHARED),
        *broken_by(convex, TOO_FAR, gam=1.5)[1:],
        replace(convex, problem="iso", options={}, gam=0.9),
    ]
