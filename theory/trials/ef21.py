"""Trials of the theorem of `theory.catalogue.ef21`: no noise, so seeds differ in nothing."""

from __future__ import annotations

from dataclasses import replace

from theory.trials.common import FLAT, TOO_FAR, broken_by
from theory.trials.trial import Control, Trial

__all__ = ["trials"]

LOUD = Control("top-5 is sent 2.5 times too large", "contraction", {"compressor": "loud"})
DIRECT = Control("what is believed is forgotten", "contraction", {"refers": False, "memory": False})


def trials() -> list[Trial]:
    """Return the trials, controls next to the trial they break."""
    top = Trial("ef21", "nc", n=4, T=200, gam=0.25, compressor="topk", k=5, seeds=2)
    top = replace(top, options={"sigma2": 0.0, "zeta2": 1.0}, refers=True)
    flat = {"sigma2": 0.0, "zeta2": 1.0, "spectrum": FLAT}
    sign = replace(top, problem="spec", options=flat, compressor="sign", k=0, gam=0.05)
    het = replace(top, problem="het", options={"sigma2": 0.0, "zeta2": 0.5}, k=2, gam=0.1)
    return [
        *broken_by(top, DIRECT),
        *broken_by(replace(top, T=20), LOUD)[1:],
        *broken_by(top, TOO_FAR, gam=10.0)[1:],
        sign,
        het,
    ]
