"""A run against its theorem, stage by stage: where a bound breaks, not only whether.

The bound alone does not see most bugs: local SGD that never averages keeps it with ratio 0.5. So
every promise of the proof is measured separately, with v the virtual sequence, y_i the points
where gradients g_i were taken, m = (1/n) sum grad f_i(y_i), and eta the step:

conditions    no condition of the theorem is violated (if one is, nothing else is said)
identity      |v_{t+1} - v_t + eta (1/n) sum g_i| <= tolerance * largest |v|, every step and seed
noise         avg |(1/n) sum g_i - m|^2 <= sigma2 / n
descent       the step of the proof, summed over t, in measured quantities (`theory.descents`)
smoothness    avg |grad f(v) - m|^2 <= L^2 P,  P = avg (1/n) sum |y_i - v|^2
contraction   avg |e_{t+1}|^2 <= (1 - delta) avg |gam g_t + e_t|^2, if the memories e were recorded
perturbation  P (or, larger, avg |e|^2) <= the theorem's lemma (all replicas equal: 0)
bound         the theorem's own left side <= its bound

A stage fails when the lower confidence limit of its ratio (Student's t over seeds, the coverage of
three standard errors) is above the limit. Averages run over t = 0 .. T-1. Everything here is a
function of arrays, an oracle and the claimed numbers: it does not matter who ran the algorithm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from theory.catalogue import THEOREMS
from theory.descents import ENTRIES, Measured
from theory.statistics import Estimate, ratio
from theory.testbed import Floats, Oracle

__all__ = ["TOLERANCE", "Stage", "Trajectory", "evaluate"]

TOLERANCE = 1e-12  # of float64 identities; float32 runs need about 1e-5


@dataclass(frozen=True)
class Trajectory:
    """S runs of T steps of n workers.

    Parameters
    ----------
    y : (S, T, n, d)
        Where the gradients were taken.
    g : (S, T, n, d)
        The stochastic gradients.
    v : (S, T + 1, d)
        The virtual sequence.
    e : (S, T + 1, n, d) or None
        What each worker has not sent yet (error feedback); None if there is no memory.
    """

    y: Floats
    g: Floats
    v: Floats
    e: Floats | None = None


@dataclass(frozen=True)
class Stage:
    """One promise: measured / promised, its confidence limits, and what it must not exceed."""

    name: str
    ratio: float
    low: float
    high: float
    limit: float = 1.0

    @property
    def ok(self) -> bool:
        """Whether the lower confidence limit respects the limit (False if it is not a number)."""
        return bool(self.low <= self.limit)


def evaluate(
    theorem: str,
    run: Trajectory,
    oracle: Oracle,
    values: Mapping[str, float],
    tolerance: float = TOLERANCE,
) -> tuple[Stage, ...]:
    """Check every stage of a theorem on recorded runs.

    Parameters
    ----------
    theorem : str
        Name in the catalogue.
    run : Trajectory
        What was recorded.
    oracle : Oracle
        Exact values and gradients of the problem.
    values : mapping
        The claim: n, T, H, gam (or a), L, sigma2, ... by the names of the theorems.
    tolerance : float
        Relative, of what holds up to rounding.

    Raises
    ------
    ValueError
        If shapes disagree with each other or with the claimed n and T.
    """
    _shapes(run, values)
    entry = ENTRIES[theorem]
    claim = entry.at(values)
    violated = float(len(THEOREMS[theorem].holds(**claim)))
    conditions = Stage("conditions", violated, violated, violated, limit=0.0)
    if not conditions.ok:
        return (conditions,)
    steps = entry.steps(values)
    measured = _measure(run, steps, oracle, tolerance)
    stages = [conditions, _identity(run, steps, tolerance)]
    for name, sides in entry.stages.items():
        stages.append(_stage(name, ratio(*sides(measured, values))))
    bound = THEOREMS[theorem].at(**claim)
    return (*stages, _stage("bound", ratio(entry.left(measured), bound)))


def _shapes(run: Trajectory, values: Mapping[str, float]) -> None:
    seeds, steps, n, d = run.y.shape
    if run.g.shape != run.y.shape or run.v.shape != (seeds, steps + 1, d):
        raise ValueError(f"y {run.y.shape}, g {run.g.shape} and v {run.v.shape} disagree")
    if run.e is not None and run.e.shape != (seeds, steps + 1, n, d):
        raise ValueError(f"y {run.y.shape} and e {run.e.shape} disagree")
    if (n, steps) != (values["n"], values["T"]):
        raise ValueError(f"{n} workers, {steps} steps; claimed {values['n']}, {values['T']}")


def _stage(name: str, estimate: Estimate) -> Stage:
    return Stage(name, estimate.value, estimate.low, estimate.high)


def _identity(run: Trajectory, steps: Floats, tolerance: float) -> Stage:
    moved = run.v[:, 1:] - run.v[:, :-1] + steps[:, None] * run.g.mean(axis=2)
    scale = float(np.sqrt(_square(run.v).max())) or 1.0
    defect = float(np.sqrt(_square(moved).max())) / scale
    return Stage("identity", defect, defect, defect, limit=tolerance)


def _measure(run: Trajectory, steps: Floats, oracle: Oracle, tolerance: float) -> Measured:
    """Return all that the stages need; what is within rounding of zero is zero."""
    before = run.v[:, :-1]
    slope, m = oracle.gradient(before), oracle.gradients(run.y).mean(axis=2)
    kept = pushed = distance = None
    if run.e is not None:
        kept = _square(run.e).mean(axis=-1)
        pushed = _square(steps[:, None, None] * run.g + run.e[:, :-1]).mean(axis=-1)
    if oracle.optimum is not None:
        distance = _square(run.v - oracle.optimum)
    return Measured(
        noise=_square(run.g.mean(axis=2) - m),
        gradient=_square(slope),
        mean_gradient=_square(m),
        deviation=_cleaned(_square(slope - m), _square(slope), tolerance),
        spread=_cleaned(_square(run.y - before[:, :, None]).mean(axis=-1), _square(run.v), tolerance),
        loss=oracle.value(run.v) - oracle.f_star,
        distance=distance,
        kept=kept,
        pushed=pushed,
    )


def _square(x: Floats) -> Floats:
    """Return |x|^2 over the last axis."""
    square: Floats = (x**2).sum(axis=-1)
    return square


def _cleaned(small: Floats, large: Floats, tolerance: float) -> Floats:
    """Return zeros if all of `small` is rounding beside the squares `large`."""
    return np.zeros_like(small) if small.max() <= tolerance**2 * large.max() else small
