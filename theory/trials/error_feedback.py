"""Trials of the theorems of `theory.catalogue.error_feedback` and `ef_convex`."""

from __future__ import annotations

from dataclasses import replace

from theory.trials.common import COARSE, FLAT, FORGETS, FROZEN, SHARED, TOO_FAR, broken_by
from theory.trials.trial import Trial

__all__ = ["trials"]


def trials() -> list[Trial]:
    """Return the trials, controls next to the trial they break."""
    top = Trial("ef-sgd-nonconvex", "nc", n=4, T=200, gam=0.1, compressor="topk", k=5)
    het = replace(top, options={"zeta2": 0.5}, gam=0.05)
    sign = replace(top, problem="iso", compressor="sign", k=0, gam=0.02)
    wide = replace(top, options={"d": 100}, k=50)
    broken = (*broken_by(wide, FROZEN)[1:], *broken_by(sign, FORGETS))
    return [*broken_by(top, FORGETS, COARSE, SHARED), het, *broken, *_convex()]


def _convex() -> list[Trial]:
    """Convex functions, where workers may differ too."""
    gap = Trial("ef-sgd-convex", "spec", n=4, T=200, gam=0.1, compressor="topk", k=5)
    far = replace(gap, theorem="ef-sgd-sc", options={"spectrum": FLAT, "zeta2": 0.5})
    return [
        *broken_by(gap, FORGETS, COARSE, SHARED),
        *broken_by(gap, TOO_FAR, gam=0.25)[1:],
        replace(gap, problem="het", gam=0.05, options={"zeta2": 0.5}),
        *broken_by(far, FORGETS, COARSE, SHARED),
        *broken_by(far, TOO_FAR, gam=0.3)[1:],
        replace(far, problem="iso", options={}, compressor="sign", k=0, gam=0.02),
    ]
