"""Some are slow: who waits for all is last, who waits for nobody is first, ssp is in between.

Formula     under bsp a clock takes as long as the slowest of n gradients; under asp n gradients are
            taken in n / sum_i (1 / t_i), t_i what a gradient of worker i takes on average
Problem     breast_cancer, logistic regression, one step size for all; one worker that is always
            slow, times that are log-normal, workers that are held up now and then
Measured    virtual seconds until f - f* has fallen to `TARGET` of what it was, with the same
            gradients and paces: of asp over those of bsp, at most 1; and no neighbours in that
            order may be the wrong way round. The formula knows nothing of what old gradients cost
Regime      early: where one worker is always slow, ssp is at most s clocks ahead of bsp, and what
            it loses to old models lets bsp overtake it in the end
Broken if   the eager ones wait
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf, nan

import numpy as np

from bench.claims import Budget, claims
from bench.grid import learnt
from bench.jobs import Found, Job, Outcome
from bench.judge import Outcome as Decision
from bench.judge import Subject, Verdict, bound, worst
from bench.series import Series, line, measured
from mpiddl.arrays import Array
from mpiddl.stragglers import Pace, ends, parse
from mpiddl.train import Run
from mpiddl.variant import Variant

__all__ = ["TimeToTarget"]

WORKERS, STEP, TARGET = 8, 0.2, 0.15
CLOCKS, MOST = 16, 28  # of everyone; of the fastest, where nobody waits
SLOW = "slow:1e-3,factor=4"
PACES = (SLOW, "lognormal:1e-3,sigma=1", "intermittent:1e-3,chance=0.1,factor=10")


@dataclass(frozen=True)
class TimeToTarget:
    """The claim that of `lines`, the most eager first, none needs more time than the next."""

    lines: tuple[str, str, str] = (
        "asp / ps:servers=1",
        "ssp:3 / ps:servers=1",
        "bsp / ps:servers=1",
    )
    paces: tuple[str, ...] = PACES
    subject: Subject = Subject(
        "with stragglers asp is there before ssp, and ssp before bsp", "1 / (t_max mean_i 1/t_i)"
    )

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return one run per pace, line and seed, in virtual time on the network of the bench."""
        jobs = []
        for pace in self.paces:
            for text in self.lines:
                for seed in budget.all_seeds:
                    key = ("time_to_target", pace, text, seed)
                    jobs.append(Job(key, run(text, parse(pace, seed)), network=budget.network))
        return jobs

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge the first against the last, and that no neighbours are in the wrong order."""
        verdicts, words, pictures = [], [], []
        for pace in self.paces:
            runs = [
                [found["time_to_target", pace, text, seed] for seed in budget.all_seeds]
                for text in self.lines
            ]
            times = [[reached(one) for one in some] for some in runs]
            first, middle = (bound(self.subject, times[i], times[-1], "") for i in (0, 1))
            nearby = (bound(self.subject, *pair, "") for pair in pairwise(times))
            verdicts += [first, *(one for one in nearby if one.outcome is Decision.FAILS)]
            told = np.mean([formula(parse(pace, seed)) for seed in budget.all_seeds])
            name = pace.partition(":")[0]
            words.append(f"{name} {first.measured:.2f} ({told:.2f}; {middle.measured:.2f})")
            pictures.append(self.picture(name, runs))
        one, other, last = (text.partition(" / ")[0] for text in self.lines)
        reason = (
            f"virtual seconds to {TARGET:g} of the first gap, {one} over {last} (formula; {other} "
            f"over {last}): {', '.join(words)}; n = {WORKERS}, {budget.seeds} seeds, simulated"
        )
        return replace(worst(verdicts), reason=reason).drawn(*pictures)

    def picture(self, name: str, runs: Sequence[Sequence[Outcome]]) -> Series:
        """Return the gaps of all lines over time, up to the end of the first that ends."""
        grid = np.linspace(0, max(one.curve["seconds"][-1] for one in runs[1]), 40)
        lines = [
            measured(text, grid, [at(one, grid) for one in some])
            for text, some in zip(self.lines, runs, strict=True)
        ]
        lines.append(line("target", grid, TARGET * gaps(runs[-1][0])[0], "theory"))
        return Series(f"Stragglers: {name}", "virtual seconds", "f - f*", tuple(lines), log_y=True)


def run(text: str, pace: Pace) -> Run:
    """Return a run; where nobody waits, it ends when the fastest has made `MOST` clocks."""
    variant = Variant.parse(f"{text} / identity / whole / sgd:{STEP}")
    task = learnt("breast_cancer", WORKERS, pace.seed)
    if variant.sync.staleness < inf:
        return Run(variant, task, CLOCKS, every=1, compute=pace)
    over = ends(pace, WORKERS, [1] * MOST)
    return Run(variant, task, MOST, every=1, compute=pace, ends=over)


def formula(pace: Pace) -> float:
    """Return the time of n gradients under asp over that under bsp."""
    times = np.array([[pace(i, step) for step in range(CLOCKS)] for i in range(WORKERS)])
    return float(1 / (times.max(axis=0).mean() * np.mean(1 / times.mean(axis=1))))


def gaps(run: Outcome) -> Array:
    """Return f - f* at every clock."""
    found: Array = run.curve["loss"] - (run.job.run.problem.constants.f_star or 0.0)
    return found


def reached(run: Outcome) -> float:
    """Return the virtual seconds after which the gap is at the target; nan if it never is."""
    gap = gaps(run)
    there = np.flatnonzero(gap <= TARGET * gap[0])
    return float(run.curve["seconds"][there[0]]) if len(there) else nan


def at(run: Outcome, seconds: Array) -> Array:
    """Return the last gap known at each of `seconds` (m,)."""
    known = np.searchsorted(run.curve["seconds"], seconds, side="right") - 1
    found: Array = gaps(run)[known]
    return found


claims.register("time_to_target")(TimeToTarget())
claims.register("time_to_target_gossip")(
    TimeToTarget(
        ("asp / pairwise:ring", "ssp:3 / gossip:ring", "bsp / gossip:ring"),
        (SLOW,),
        Subject(
            "with one slow worker AD-PSGD is there before stale gossip, and that before D-PSGD",
            "1 / (t_max mean_i 1/t_i)",
        ),
    )
)
