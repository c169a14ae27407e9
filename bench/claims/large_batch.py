"""n workers learn as much from a sample as one: an n-fold batch with an n-fold step.

Rule        linear scaling with warm-up: Goyal et al. 2017, arXiv:1706.02677. A step of n gam with
            the mean of n gradients is n steps of gam, as far as the gradient stays the same on the
            way, and the noise it leaves behind is that of n small steps (bsp-sc-const: gam sigma2)
Problem     digits_mlp, a small network on images; every gradient is that of 32 of them
Measured    training loss after equally many samples, of n workers over that of one, 15 % allowed
            for what the gradient changes; and how far n workers get with the step of one
Broken if   the step is not scaled: then n workers go an n-th of the way
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bench.claims import Budget, claims
from bench.jobs import Found, Job
from bench.judge import Subject, Verdict, alike
from bench.series import Series, measured
from mpiddl.problems import problem
from mpiddl.train import Run
from mpiddl.variant import Variant

__all__ = ["LargeBatch"]

WORKERS, STEPS, SNAPSHOTS = 8, 256, 8
GAM, WARM_UP, ALLOWED = 0.1, 2, 0.15
LINE = "bsp / allreduce / identity / whole / sgd:{}"
BATCH = 32


@dataclass(frozen=True)
class LargeBatch:
    """The claim about n workers whose step is `scale` times that of one."""

    scale: float = float(WORKERS)

    subject: ClassVar[Subject] = Subject(
        "an n-fold batch with n-fold step learns as well", "linear scaling"
    )

    @property
    def kinds(self) -> dict[str, tuple[int, str]]:
        """What is compared: workers and step size."""
        return {
            "1 worker": (1, f"{GAM}"),
            f"{WORKERS} workers, step times {self.scale:g}": (
                WORKERS,
                f"{GAM * self.scale!r}@warmup:{WARM_UP}",
            ),
            f"{WORKERS} workers, the same step": (WORKERS, f"{GAM}"),
        }

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return one run per kind and seed."""
        return [
            budget.job(
                ("large_batch", n, rate, seed),
                Run(
                    Variant.parse(LINE.format(rate)),
                    problem("digits_mlp", n, seed, batch=BATCH),
                    STEPS // n,
                    every=STEPS // n // SNAPSHOTS,
                ),
            )
            for n, rate in self.kinds.values()
            for seed in budget.all_seeds
        ]

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge the losses at the end, with the scaled step over those of one worker."""
        losses = {
            kind: [found["large_batch", n, rate, seed].curve["loss"] for seed in budget.all_seeds]
            for kind, (n, rate) in self.kinds.items()
        }
        one, scaled, same = ([curve[-1] for curve in curves] for curves in losses.values())
        reason = (
            f"loss after {STEPS * BATCH} samples over that of one worker, {100 * ALLOWED:.0f} % "
            f"allowed; with the same step {np.mean(same) / np.mean(one):.2g}; n = {WORKERS}, "
            f"{budget.told(WORKERS)}"
        )
        samples = np.arange(SNAPSHOTS + 1) * (STEPS // SNAPSHOTS) * BATCH
        lines = tuple(measured(kind, samples, curves) for kind, curves in losses.items())
        return alike(self.subject, scaled, one, reason, ALLOWED).drawn(
            Series("Batches of n times 32 images", "samples", "loss", lines, log_y=True)
        )


claims.register("large_batch")(LargeBatch())
