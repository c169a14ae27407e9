"""Trials of the theorems of `theory.catalogue.delayed`.

A server has T steps whoever pushes, so these trials fit any number of workers. Without a gate no
delay is promised: the claim is what T steps allow, and the step is short enough for that.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf

from theory.trials.common import FROZEN, LONG, TOO_FAR, broken_by
from theory.trials.trial import Control, Trial

__all__ = ["trials"]

NO_GATE = Control("nobody waits for the slow one", "delays", {"staleness": inf})
CROWD = Control("6 workers run, 2 are claimed", "delays", {"n": 6})
SERVED = Control("6 workers push, the bound of one is claimed", "perturbation", {"n": 6})


def trials() -> list[Trial]:
    """Return the trials, controls next to the trial they break."""
    asp = Trial("asgd-nonconvex", "iso", n=4, T=600, gam=0.015, staleness=inf, seeds=8)
    slow = replace(asp, problem="nc", T=400, gam=0.018, pace="slow")
    ssp = Trial("ssp-nonconvex", "iso", n=4, T=400, gam=0.1, staleness=1)
    far = replace(ssp, problem="nc", n=2, T=200, gam=0.15, staleness=3, pace="slow")
    quiet = replace(ssp, options={"sigma2": 0.0}, seeds=2)
    one = Trial("bsp-nonconvex", "iso", 1, 600, 0.2, {"radius": 0.3}, staleness=inf, seeds=8)
    return [
        asp,
        *broken_by(replace(asp, n=2), CROWD)[1:],
        *broken_by(replace(asp, options={"d": 100}), FROZEN)[1:],
        *broken_by(asp, TOO_FAR, gam=0.02)[1:],
        slow,
        ssp,
        *broken_by(replace(ssp, T=200, staleness=0, pace="slow"), NO_GATE)[1:],
        *broken_by(ssp, TOO_FAR, gam=0.15)[1:],
        far,
        *broken_by(quiet, LONG),
        *broken_by(one, SERVED)[1:],
    ]
