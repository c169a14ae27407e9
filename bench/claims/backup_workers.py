"""One worker to spare: a clock takes as long as if the slow one were not there, nor its gradient.

Formula     a round ends with n - b pushes, and they are answered one after another; the last who
            is answered takes its gradient and pushes, and with that the next round ends:
                seconds of a clock = t + c' (n - b) + c,
            t the seconds of a gradient, c those of a push, c' those of an answer. The error is that
            of n - b workers: theory.delayed has it exactly, without delays
Problem     f = |x|^2 / 2 with additive noise, from its minimum; the last worker takes `FACTOR`
            times as long as the others, so its pushes come when their rounds are over
Measured    virtual seconds of a clock over the formula; the mean over late clocks of |x_t|^2 over
            its exact value, and over that of n workers, which it must not be
Broken if   rounds wait for everyone
Source      Chen, Pan, Monga, Bengio & Jozefowicz, 2016.  arXiv:1604.00981
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from bench.claims import Budget, claims
from bench.jobs import Found, Job
from bench.judge import Subject, Verdict, attained, equal, told_apart, worst
from bench.series import Series, line, measured
from mpiddl.arrays import Array
from mpiddl.comm.simulated import Network
from mpiddl.curve import Curve
from mpiddl.problems.quadratic import iso
from mpiddl.stragglers import parse
from mpiddl.train import Run
from mpiddl.variant import Variant

__all__ = ["BackupWorkers"]

WORKERS, SPARE, FACTOR = 5, 1, 10.0
D, WIDTH, GAM = 400, 8, 0.2  # entries of the vector, bytes of one
CLOCKS, FIRST = 60, 15  # in all, and the first whose noise counts
TOLERANCE = 1e-3  # of seconds, relative: what the late one says holds up others by a message


@dataclass(frozen=True)
class BackupWorkers:
    """The claim that rounds with that many to `spare` are those of n - `SPARE` workers."""

    spare: int = SPARE

    subject: ClassVar[Subject] = Subject(
        "with one worker to spare a slow one costs no time, and its share of the noise",
        "path of a round; theory.delayed",
    )

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return one run per seed, in virtual time on the network of the bench."""
        text = f"bsp / ps:servers=1,backup={self.spare} / identity / whole / sgd:{GAM}"
        second = gradient(budget.network)
        jobs = []
        for seed in budget.all_seeds:
            pace = parse(f"slow:{second!r},worker={WORKERS - 1},factor={FACTOR}", seed)
            problem = iso(WORKERS, seed, d=D, radius=0.0)
            run = Run(Variant.parse(text), problem, CLOCKS, every=1, compute=pace)
            jobs.append(Job(("backup_workers", self.spare, seed), run, network=budget.network))
        return jobs

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge seconds and noise; what is worse is told."""
        runs = [found["backup_workers", self.spare, seed].curve for seed in budget.all_seeds]
        taken = [float(np.diff(run["seconds"])[1:].mean()) for run in runs]
        timely = equal(
            self.subject, 1.0, [one / clock(budget.network) for one in taken], "", TOLERANCE
        )
        noise = [run["distance2"][FIRST:].mean() for run in runs]
        few, all_ = (
            attained(self.subject, noise, [exact(n)[FIRST:].mean()] * len(noise), "")
            for n in (WORKERS - SPARE, WORKERS)
        )
        reason = (
            f"seconds of a clock over the formula {timely.measured:.4f}; |x|^2 over that of n - 1 "
            f"workers {few.measured:.3f}, of n {all_.measured:.2f}; n = {WORKERS}, {budget.seeds} "
            "seeds, simulated"
        )
        verdict = worst([timely, told_apart(few, all_)])
        return replace(verdict, reason=reason).drawn(*pictures(runs, budget.network))


def pictures(runs: Sequence[Curve], network: Network) -> tuple[Series, Series]:
    """Return time and noise over clocks."""
    clocks, told = np.arange(CLOCKS + 1), clock(network)
    waits = told + (FACTOR - 1) * gradient(network)
    time = (
        measured("measured", clocks, [run["seconds"] for run in runs]),
        line("formula", clocks, told * clocks, "theory"),
        line("if all waited, about", clocks, waits * clocks, "theory"),
    )
    noise = (
        measured("measured", clocks, [run["distance2"] for run in runs]),
        line("n - 1 workers", clocks, exact(WORKERS - SPARE), "theory"),
        line("n workers", clocks, exact(WORKERS), "theory"),
    )
    return (
        Series("Time with one slow worker", "clock", "virtual seconds", time),
        Series("Noise without the slow worker", "clock", "|x|^2", noise),
    )


def message(network: Network, more: int = 0) -> float:
    """Return the seconds of a vector, and `more` bytes."""
    return network.alpha + network.beta * (D * WIDTH + more)


def gradient(network: Network) -> float:
    """Return the seconds of a gradient: so many that messages do not make anyone late."""
    return max(1e-3, 50 * message(network))


def clock(network: Network) -> float:
    """Return the seconds of a clock."""
    from theory.cost.exchanges import VERDICT

    pushed, answered = message(network), message(network, VERDICT)
    return gradient(network) + (WORKERS - SPARE) * answered + pushed


def exact(workers: int) -> Array:
    """Return E|x_t|^2 of so many workers after t clocks, (T + 1,)."""
    from theory.delayed import second_moments
    from theory.testbed import Quadratic

    oracle = Quadratic(1, D, 1.0, 1.0 / workers, 0.0, 0.0, np.ones(D))
    moments = second_moments(np.arange(CLOCKS), np.full(CLOCKS, GAM), oracle)
    total: Array = moments.squares.sum(axis=1)
    return total


claims.register("backup_workers")(BackupWorkers())
