"""Every synchronization on every architecture divides the noise by n, up to 256 workers.

Theorem     bsp-sc-const: on f = |x|^2 / 2 its bound is attained, E|x - x*|^2 tends to
            gam sigma2 / (n (2 - gam)); local steps and gossip leave the mean model what it is, a
            constant delay has the moments of theory.delayed; elsewhere delays change the factor,
            not the 1/n: a push of one of n workers counts 1/n, so n pushes of delay are one clock
Measured    mean of |x - x*|^2 after a burn-in, x the servers' model or the mean of the models, for
            each of the twelve cells: slope of its logarithm over log n. Gradients take
            log-normal times, so delays are what they are; messages travel on 10 Gb Ethernet
Regime      gam = 0.3, and delays are a few clocks at most: where servers take in pushes as they
            come, the condition of asgd-nonconvex is kept by the delays that were written down.
            Workers start at x*, so noise is all that there is. How late gradients are depends a
            little on n, and so does the factor: slopes are -1 to `TOLERANCE`, all of the interval
Broken if   workers do not draw noise of their own: then the slope is 0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from bench.claims import Budget, claims
from bench.jobs import Found, Job
from bench.jobs import Outcome as Came
from bench.judge import Outcome, Subject, Verdict, exponent, undecided, worst
from bench.networks import NETWORKS
from bench.series import Series, line, measured
from mpiddl.ledger import FIELDS
from mpiddl.problems import Problem
from mpiddl.problems.quadratic import iso
from mpiddl.stragglers import parse
from mpiddl.train import Run
from mpiddl.variant import Variant
from theory.events import Delays

__all__ = ["SpeedupOfCells"]

CELLS = (
    "bsp / allreduce",
    "bsp / ps:servers=1",
    "bsp / gossip:random_regular:4",
    "local:2 / allreduce",
    "local:2 / ps:servers=1",
    "local:2 / gossip:random_regular:4",
    "ssp:1 / allreduce",
    "ssp:1 / ps:servers=1",
    "ssp:1 / gossip:random_regular:4",
    "asp / allreduce:quorum=majority",
    "asp / ps:servers=1",
    "asp / pairwise:complete",
)
GAM, STEPS, EVERY, D = 0.3, 8, 2, 1000
SIZES, FEW = (8, 32, 256), (8, 32)  # workers, by default and in a hurry
SEEDS = 3  # at most where there are 256 workers: d is large, so one run says much
TOLERANCE = 0.25
PACE = "lognormal:1e-3,sigma=0.2"
NETWORK = NETWORKS["10gbe"].network
LONG = 100  # clocks after which nothing changes any more


@dataclass(frozen=True)
class SpeedupOfCells:
    """The claim; `problem` makes what is learnt from a number of workers and a seed."""

    problem: Callable[[int, int], Problem] = partial(iso, d=D, radius=0.0)

    subject: ClassVar[Subject] = Subject("in each cell n workers divide the noise", "bsp-sc-const")

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return one run per cell, size and seed; simulated."""
        seeds, sizes = repeated(budget)
        return [
            Job(("speedup_of_cells", cell, n, seed), self.run(cell, n, seed), network=NETWORK)
            for cell in CELLS
            for n in sizes
            for seed in seeds
        ]

    def run(self, cell: str, n: int, seed: int) -> Run:
        """Return one run of `STEPS` gradients per worker."""
        variant = Variant.parse(f"{cell} / identity / whole / sgd:{GAM}")
        clocks = STEPS // variant.sync.period
        every = max(1, EVERY // variant.sync.period)
        return Run(variant, self.problem(n, seed), clocks, every, parse(PACE, seed))

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge the slopes of all cells: that of the worst counts."""
        from theory.catalogue import THEOREMS

        seeds, sizes = repeated(budget)
        runs = {
            cell: [[found["speedup_of_cells", cell, n, seed] for n in sizes] for seed in seeds]
            for cell in CELLS
        }
        errors = {cell: [[error(one) for one in row] for row in runs[cell]] for cell in CELLS}
        tuned = THEOREMS[self.subject.theorem].tuned
        assert tuned is not None
        each = {
            cell: near(exponent(self.subject, sizes, errors[cell], float(tuned.rate_n), ""))
            for cell in CELLS
        }
        verdict = worst([*each.values()])
        cell = next(cell for cell in CELLS if each[cell] is verdict)
        kept = sum(one.outcome is Outcome.HOLDS for one in each.values())
        reason = (
            f"slope over n = {sizes[0]} .. {sizes[-1]} of the cell farthest from it, {cell}; "
            f"{kept} of {len(CELLS)} cells hold, to {TOLERANCE:g}; {len(seeds)} seeds, simulated"
        )
        verdict = replace(verdict, reason=reason)
        if not all(small(one) for row in runs["asp / ps:servers=1"] for one in row):
            verdict = undecided(self.subject, "delays are too long for this step", -1.0)
        return verdict.drawn(*pictures(sizes, errors))


def repeated(budget: Budget) -> tuple[Sequence[int], Sequence[int]]:
    """Return the seeds and the numbers of workers."""
    return (budget.all_seeds, FEW) if budget.quick else (budget.all_seeds[:SEEDS], SIZES)


def near(slope: Verdict) -> Verdict:
    """Return whether a slope and its interval are the predicted one, but for `TOLERANCE`."""
    low, high = slope.predicted - TOLERANCE, slope.predicted + TOLERANCE
    outcome = Outcome.UNDECIDED
    if low <= slope.low and slope.high <= high:
        outcome = Outcome.HOLDS
    elif slope.high < low or slope.low > high:
        outcome = Outcome.FAILS
    return replace(slope, outcome=outcome)


def error(run: Came) -> float:
    """Return the mean of |x - x*|^2 over the second half of the steps."""
    late = run.curve["step"] >= STEPS / 2
    return float(run.curve["distance2"][late].mean())


def small(run: Came) -> bool:
    """Whether the step is small against the delays of a server that waits for nobody."""
    from theory.catalogue import THEOREMS

    assert run.services is not None
    n, late = run.job.run.problem.workers, Delays.of(run.services[:, FIELDS.index("delay")])
    ages = {"taumax": late.longest, "tauC": late.under_way, "tauavg": late.mean}
    known = {"T": STEPS * n, "gam": GAM / n, "L": 1.0, "sigma2": 1.0, "Delta": 0.0}
    return not THEOREMS["asgd-nonconvex"].holds(**known, **ages)


def exact(n: int, delay: int = 0) -> float:
    """Return what |x - x*|^2 tends to where every mean gradient comes `delay` clocks late."""
    from theory.delayed import second_moments
    from theory.testbed import Quadratic

    steps = np.arange(LONG)
    oracle = Quadratic(1, 1, 1.0, 1.0 / n, 0.0, 0.0, np.ones(1))
    moments = second_moments(np.maximum(steps - delay, 0), np.full(LONG, GAM), oracle)
    return float(moments.squares[-1].sum())


def pictures(sizes: Sequence[int], errors: Mapping[str, Any]) -> tuple[Series, Series]:
    """Return the errors, and what is left of them once they are multiplied by n."""
    unit = exact(1)
    scaled = {cell: np.array(errors[cell]) * np.array(sizes) / unit for cell in CELLS}
    known = {"all means in time": exact(1) / unit, "means 1 clock late": exact(1, 1) / unit}
    return (
        Series(
            "Twelve cells",
            "workers n",
            "|x - x*|^2",
            (
                *(measured(cell, sizes, errors[cell]) for cell in CELLS),
                line("1/n, exact for bsp", sizes, [exact(n) for n in sizes], "theory"),
            ),
            log_x=True,
            log_y=True,
        ),
        Series(
            "Twelve cells, times n",
            "workers n",
            "n |x - x*|^2, of bsp = 1",
            (
                *(measured(cell, sizes, scaled[cell]) for cell in CELLS),
                *(line(label, sizes, value, "theory") for label, value in known.items()),
            ),
            log_x=True,
        ),
    )


claims.register("speedup_of_cells")(SpeedupOfCells())
