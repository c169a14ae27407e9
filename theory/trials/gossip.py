"""Trials of the theorems of `theory.catalogue.gossip`."""

from __future__ import annotations

from dataclasses import replace

from theory.trials.common import LOPSIDED, SHARED, SLOW, broken_by
from theory.trials.trial import Control, Trial

__all__ = ["trials"]


def trials() -> list[Trial]:
    """Return the trials, controls next to the trial they break."""
    pure = Trial("gossip-consensus", "iso", n=8, T=24, topology="ring", start="apart", seeds=8)
    cube = replace(pure, topology="hypercube")
    ring = Trial("dpsgd-nonconvex-atc", "het", n=8, T=200, gam=0.05, topology="ring")
    ring = replace(ring, options={"zeta2": 0.1})
    cubes = replace(ring, topology="hypercube")
    nc = replace(ring, problem="nc", options={"zeta2": 1.0}, n=4, gam=0.1)
    first = Control("workers combine before they adapt", "perturbation", {"order": "cta"})
    cta = replace(ring, theorem="dpsgd-nonconvex-cta", order="cta")
    return [
        *broken_by(pure, LOPSIDED),
        *broken_by(cube, SLOW)[1:],
        *broken_by(ring, LOPSIDED, SHARED),
        *broken_by(cubes, SLOW, first)[1:],
        nc,
        replace(ring, options={"zeta2": 0.1, "sigma2": 0.0}, seeds=2),
        *broken_by(cta, LOPSIDED, SHARED),
        *broken_by(replace(cta, topology="hypercube", options={}), SLOW),
        replace(nc, theorem="dpsgd-nonconvex-cta", order="cta"),
    ]
