"""What is tried: for each theorem, runs on which its bound says something, and runs that break it.

A trial is numbers and names only, so that the same run can be built from matrices (`recursions`)
or from real processes. Its fields are the claim. A control breaks one promise: what really runs
is `real()`, the claim stays, and the stage `control.fails` must say so ("conditions": the theorem
itself must refuse the numbers).
"""

from __future__ import annotations

from theory.trials import (
    bias,
    bsp,
    cooperative,
    d2,
    delayed,
    ef21,
    error_feedback,
    gd,
    gossip,
    local_sgd,
    momentum,
    pairwise,
    push_sum,
    sampling,
    second_moment,
    ssp_regret,
    stability,
    tracking,
    unbiased,
)
from theory.trials.trial import Control, Trial

__all__ = ["TRIALS", "Control", "Trial"]

TRIALS: tuple[Trial, ...] = (
    *bsp.trials(),
    *gd.trials(),
    *sampling.trials(),
    *local_sgd.trials(),
    *gossip.trials(),
    *error_feedback.trials(),
    *unbiased.trials(),
    *ef21.trials(),
    *delayed.trials(),
    *second_moment.trials(),
    *cooperative.trials(),
    *momentum.trials(),
    *pairwise.trials(),
    *ssp_regret.trials(),
    *stability.trials(),
    *bias.trials(),
    *d2.trials(),
    *tracking.trials(),
    *push_sum.trials(),
)
"""Every trial, controls next to the trial they break."""
