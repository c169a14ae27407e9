"""What trials of several families share: spectra, broken promises, and twins that break them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from theory.trials.trial import Control, Trial

__all__ = ["ALONE", "BENT", "COARSE", "CONSTANT", "FLAT", "FORGETS", "FROZEN", "LONG"]
__all__ += ["LOPSIDED", "NOISY", "SHARED", "SLOW", "TOO_FAR", "broken_by"]

FLAT = tuple(np.geomspace(0.1, 1, 10))  # curvatures over one decade: kappa = 10
BENT: dict[str, Any] = {"spectrum": tuple(np.geomspace(0.5, 1, 6)), "sigma2": 0.0}  # for heta

SHARED = Control("all workers draw the same noise", "noise", {"noise": "shared"})
FROZEN = Control("every step draws the same noise", "unbiased", {"noise": "frozen"})
ALONE = Control("workers never average", "perturbation", {"H": 200})
LOPSIDED = Control("rows of W add up to 1, columns do not", "identity", {"topology": "lopsided"})
SLOW = Control("a ring runs, a hypercube is claimed", "perturbation", {"topology": "ring"})
FORGETS = Control("what was not sent is forgotten", "identity", {"memory": False})
COARSE = Control("top-1 runs, top-5 is claimed", "contraction", {"k": 1})
CONSTANT = Control(
    "a constant step runs, a decreasing one is claimed", "identity", {"offset": None, "gam": 0.1}
)
LONG = Control(
    "gradients are 3% too long, without noise", "noise", {"options": {"sigma2": 0.0, "L": 1.03}}
)
NOISY = Control("gradients are noisy", "noise", {"options": {**BENT, "sigma2": 1e-6}})
TOO_FAR = Control("the step is above the condition", "conditions")


def broken_by(trial: Trial, *controls: Control, **changes: Any) -> list[Trial]:
    """Return the trial and one broken twin per control."""
    return [trial, *(replace(trial, control=control, **changes) for control in controls)]
