"""Trials of the theorem of `theory.catalogue.stability`, just below the longest step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from theory.trials.common import LONG, TOO_FAR, broken_by
from theory.trials.trial import Control, Trial

__all__ = ["trials"]

OLDER = Control("gradients are 20 steps late, 1 is claimed", "bound", {"late": 20})


def _longest(late: int) -> float:
    return float(2 * np.sin(np.pi / (2 * (2 * late + 1))))


def _at(late: int, share: float, problem: str = "iso") -> Trial:
    """Return a run at a share of the longest step."""
    trial = Trial("delay-stability", problem, n=2, T=400, gam=share * _longest(late), late=late)
    return replace(trial, options={"sigma2": 0.0}, seeds=2)


def trials() -> list[Trial]:
    """Return the trials, controls next to the trial they break."""
    one, ten = _at(1, 0.98), _at(10, 0.98)
    noisy = Control("gradients are noisy", "noise", {"options": {"sigma2": 1e-6}})
    return [
        *broken_by(one, OLDER, LONG, noisy),
        *broken_by(one, TOO_FAR, gam=1.02 * _longest(1))[1:],
        replace(_at(3, 0.98, "het"), options={"sigma2": 0.0, "zeta2": 1.0}),
        *broken_by(ten, TOO_FAR, gam=1.02 * _longest(10)),
    ]
