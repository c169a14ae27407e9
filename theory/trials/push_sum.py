"""Trials of the theorem of `theory.catalogue.push_sum`."""

from __future__ import annotations

from dataclasses import replace

from theory.trials.common import broken_by
from theory.trials.trial import Control, Trial

__all__ = ["trials"]

UNREAD = Control("models are read without their weights", "perturbation", {"order": "atc"})
ROWS = Control("rows of P add up to 1, columns do not", "identity", {"topology": "rows"})
APART = Control("nobody is heard", "perturbation", {"topology": "alone"})


def trials() -> list[Trial]:
    """Return the trials, controls next to the trial they break."""
    one = Trial("push-sum", "iso", n=8, T=80, options={"d": 100}, topology="one_way", seeds=4)
    one = replace(one, start="apart", order="share")
    return [
        *broken_by(one, UNREAD, ROWS, APART),
        replace(one, topology="leaves"),
        replace(one, topology="ring"),
    ]
