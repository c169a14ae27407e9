"""One slow worker: who waits for it is slow, who does not wait gets there first.

Formula     under bsp a clock takes as long as the slowest of n gradients; under asp n gradients are
            taken in n / sum_i (1 / t_i), t_i what a gradient of worker i takes on average
Problem     breast_cancer, logistic regression; the last worker takes `SLOW` times as long as the
            others, and every gradient a time of its own, up to a half more or less
Measured    virtual seconds until f - f* has fallen to `TARGET` of what it was, under asp over bsp
            with the same gradients and paces; drawn beside it: what the formula says
Broken if   asp waits
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import ClassVar

import numpy as np

from bench.claims import Budget, claims
from bench.jobs import Found, Job, Outcome
from bench.judge import Subject, Verdict, bound
from bench.series import Series, line, measured
from mpiddl.arrays import Array, Purpose, stream
from mpiddl.problems import problem
from mpiddl.train import Run
from mpiddl.variant import Variant

__all__ = ["Straggler"]

WORKERS, SLOW, SECOND = 4, 10.0, 1e-3
STEP, TARGET = 0.2, 0.1
LINE = "{} / ps:servers=1 / identity / whole / sgd:{}"


def pace(seed: int, worker: int, step: int) -> float:
    """Return the seconds of one gradient."""
    share = SLOW if worker == WORKERS - 1 else 1.0
    return SECOND * share * float(stream(seed, Purpose.START, worker, step).uniform(0.5, 1.5))


@dataclass(frozen=True)
class Straggler:
    """The claim that `eager` needs less time than `patient`."""

    eager: str = "asp"
    patient: str = "bsp"
    clocks: int = 48

    subject: ClassVar[Subject] = Subject(
        "with one slow worker asp is there before bsp", "1 / (t_max mean_i 1/t_i)"
    )

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return two runs per seed, in virtual time on the network of the bench."""
        jobs = []
        for seed in budget.all_seeds:
            for sync in (self.eager, self.patient):
                run = Run(
                    Variant.parse(LINE.format(sync, STEP)),
                    problem("breast_cancer", WORKERS, seed),
                    self.clocks,
                    every=1,
                    compute=partial(pace, seed),
                )
                key = ("straggler", sync, seed)
                jobs.append(Job(key, run, network=budget.network))
        return jobs

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge the ratio of the times to the target."""
        runs = {
            sync: [found["straggler", sync, seed] for seed in budget.all_seeds]
            for sync in (self.eager, self.patient)
        }
        times = {sync: [reached(run) for run in some] for sync, some in runs.items()}
        paces = [1.0] * (WORKERS - 1) + [SLOW]
        expected = 1 / (max(paces) * float(np.mean([1 / one for one in paces])))
        reason = (
            f"virtual seconds to {TARGET:g} of the first gap, over those of bsp; formula "
            f"{expected:.2g}; n = {WORKERS}, {budget.seeds} seeds, simulated"
        )
        verdict = bound(self.subject, times[self.eager], times[self.patient], reason)
        grid = np.linspace(0, max(run.curve["seconds"][-1] for run in runs[self.eager]), 40)
        lines = [
            measured(sync, grid, [at(run, grid) for run in some]) for sync, some in runs.items()
        ]
        lines.append(line("target", grid, TARGET * first(runs[self.patient][0]), "theory"))
        return verdict.drawn(
            Series("One slow worker", "virtual seconds", "f - f*", tuple(lines), log_y=True)
        )


def gaps(run: Outcome) -> Array:
    """Return f - f* at every clock."""
    found: Array = run.curve["loss"] - (run.job.run.problem.constants.f_star or 0.0)
    return found


def first(run: Outcome) -> float:
    """Return f - f* at the start."""
    return float(gaps(run)[0])


def reached(run: Outcome) -> float:
    """Return the virtual seconds after which the gap is at the target; inf if it never is."""
    there = np.flatnonzero(gaps(run) <= TARGET * first(run))
    return float(run.curve["seconds"][there[0]]) if len(there) else inf


def at(run: Outcome, seconds: Array) -> Array:
    """Return the last gap known at each of `seconds` (m,)."""
    known = np.searchsorted(run.curve["seconds"], seconds, side="right") - 1
    found: Array = gaps(run)[known]
    return found


claims.register("straggler")(Straggler())
