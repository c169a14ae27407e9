"""Old gradients cost noise: exactly so much, more than under BSP, and no more than the bound.

Theorem     of a server that takes in one gradient a step: theory.delayed has the second moments for
            any order of reads and pushes, exactly, on quadratics; asgd-nonconvex bounds the mean of
            |grad f(x_t)|^2 by the longest, the mean and the concurrent delays
Problem     f = |x|^2 / 2 with additive noise; x_t is the server's model after t pushes
Measured    the mean over t of |x_t|^2 over its exact value, given the order that the server wrote
            down, in the simulator and under MPI; and at an even pace, where every delay is n - 1,
            over the bound, and over that of bsp-nonconvex for steps without delay, which it breaks
Broken if   delays are not those that are written down, or there are none
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from bench.claims import Budget, claims
from bench.jobs import Found, Job, Outcome
from bench.judge import Subject, Verdict, attained, bound, told_apart
from bench.series import Series, line, measured
from mpiddl.arrays import Array
from mpiddl.ledger import FIELDS
from mpiddl.problems.quadratic import iso
from mpiddl.train import Run
from mpiddl.variant import Variant
from theory.events import PACES, Delays, Ints

__all__ = ["DelayBound", "DelayNoise"]

CLOCKS, D, RADIUS, GAM = 80, 40, 0.5, 0.2  # of the server's steps
SECOND = 5e-4  # of a gradient that takes the time 1


def job(budget: Budget, pace: str, n: int, seed: int, gam: float = GAM) -> Job:
    """Return a run of n workers and one server that waits for nobody."""
    durations = PACES[pace](n, seed)
    run = Run(
        Variant.parse(f"asp / ps:servers=1 / identity / whole / sgd:{n * gam!r}"),
        iso(n, seed, d=D, radius=RADIUS),
        CLOCKS,
        every=CLOCKS,
        compute=lambda worker, step: SECOND * durations(worker, step),
    )
    return budget.job(("asynchronous", pace, n, seed), run, watched=True)


def squares(run: Outcome) -> Array:
    """Return |x_t|^2 before every push, (T,)."""
    models = run.traces[-1].v
    assert models is not None
    x = np.vstack((run.job.run.problem.start(), models[:-1]))
    return np.einsum("td,td->t", x, x)


def delays(run: Outcome) -> Ints:
    """Return the delay of every push, (T,)."""
    assert run.services is not None
    found: Ints = run.services[:, FIELDS.index("delay")]
    return found


@dataclass(frozen=True)
class DelayNoise:
    """The claim that errors are those of the delays; `believed` is what one delay is taken for."""

    workers: int = 3
    believed: float = 1.0

    subject: ClassVar[Subject] = Subject(
        "old gradients cost what their delays say", "theory.delayed"
    )

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return one run per seed; gradients take times of their own."""
        return [job(budget, "random", self.workers, seed) for seed in budget.all_seeds]

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge the mean of |x_t|^2 against its exact value, seed by seed."""
        n = self.workers
        runs = [found["asynchronous", "random", n, seed] for seed in budget.all_seeds]
        known = [self.exact(delays(run)) for run in runs]
        seen = [squares(run) for run in runs]
        longest = max(int(delays(run).max()) for run in runs)
        reason = (
            f"mean |x_t|^2 over its exact value; delays up to {longest}; n = {n}, "
            f"{budget.told(n + 1)}"
        )
        means, exact = ([one.mean() for one in some] for some in (seen, known))
        steps = np.arange(CLOCKS * n)
        lines = measured("measured", steps, seen), line("exact", steps, np.mean(known, 0), "theory")
        return attained(self.subject, means, exact, reason).drawn(
            Series("Asynchronous steps", "pushes t", "|x_t|^2", lines, log_y=True)
        )

    def exact(self, recorded: Ints) -> Array:
        """Return E|x_t|^2 before every push, given its delay, (T,)."""
        from theory.delayed import second_moments
        from theory.testbed import Quadratic

        steps = np.arange(recorded.size)
        read = steps - np.minimum(steps, (self.believed * recorded).astype(np.int64))
        oracle = Quadratic(1, D, 1.0, 1.0, 0.0, RADIUS, np.ones(D))
        moments = second_moments(read, np.full(read.size, GAM), oracle)
        total: Array = moments.squares[:-1].sum(axis=1)
        return total


@dataclass(frozen=True)
class DelayBound:
    """The claim about workers at an even pace, who take turns; `gam` is taken for `GAM`."""

    workers: int = 4
    gam: float = GAM

    subject: ClassVar[Subject] = Subject(
        "asp keeps the bound of its delays, not that of bsp", "asgd-nonconvex"
    )

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return one run per seed, in virtual time: nobody's pace is even under MPI."""
        made = [job(budget, "even", self.workers, seed, self.gam) for seed in budget.all_seeds]
        return [replace(one, mpi=False) for one in made]

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge the mean of |grad f(x_t)|^2 against both bounds."""
        from theory.catalogue import THEOREMS

        n = self.workers
        runs = [found["asynchronous", "even", n, seed] for seed in budget.all_seeds]
        seen, late = [squares(run) for run in runs], Delays.of(delays(runs[0]))
        known = {"T": CLOCKS * n, "gam": GAM, "L": 1.0, "sigma2": 1.0, "Delta": RADIUS**2 / 2}
        ages = {"taumax": late.longest, "tauC": late.under_way, "tauavg": late.mean}
        limit = THEOREMS[self.subject.theorem].at(**known, **ages)
        fresh = THEOREMS["bsp-nonconvex"].at(n=1, **known)
        kept, broken = (
            bound(self.subject, [one.mean() for one in seen], [value] * len(seen), "")
            for value in (limit, fresh)
        )
        reason = (
            f"mean |grad f|^2 over the bound; over that without delays {broken.measured:.2f}; "
            f"n = {n}, delay {late.longest}, {budget.seeds} seeds, simulated"
        )
        steps = np.arange(CLOCKS * n)
        lines = (
            measured("measured", steps, seen),
            line("mean, at most", steps, limit, "bound"),
            line("mean without delays, at most", steps, fresh, "bound"),
        )
        return replace(told_apart(kept, broken), reason=reason).drawn(
            Series("Old gradients", "pushes t", "|grad f(x_t)|^2", lines, log_y=True)
        )


claims.register("asynchronous_noise")(DelayNoise())
claims.register("asynchronous_bound")(DelayBound())
