"""Trials of the theorems of `theory.catalogue.gd`."""

from __future__ import annotations

from dataclasses import replace

from theory.trials.common import LONG, TOO_FAR, broken_by
from theory.trials.trial import Control, Trial

__all__ = ["extremal", "trials"]


def extremal(T: int, gam: float) -> Trial:
    """Return the run on which gd-convex is attained: a Huber function made for T and gam."""
    options = {"sigma2": 0.0, "d": 1, "c": 1 / (2 * T * gam + 1)}
    return Trial("gd-convex", "huber", n=2, T=T, gam=gam, options=options, seeds=2)


def trials() -> list[Trial]:
    """Return the trials, controls next to the trial they break."""
    worst = extremal(100, 0.5)
    noisy = Control("gradients are noisy", "noise", {"options": {**worst.options, "sigma2": 1e-6}})
    iso = Trial("gd-convex", "iso", n=4, T=100, gam=0.05, options={"sigma2": 0.0}, seeds=2)
    het = replace(iso, problem="het")
    return [*broken_by(worst, noisy), *broken_by(iso, LONG), *broken_by(het, TOO_FAR, gam=1.5)]
