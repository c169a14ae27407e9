"""A run against its theorem, stage by stage: where a bound breaks, not only whether.

The bound alone does not see most bugs: local SGD that never averages keeps it with ratio 0.5. So
every promise of the proof is measured separately, with v the virtual sequence, y_i the points
where gradients g_i were taken, m = (1/n) sum grad f_i(y_i), and eta the step:

conditions    no condition of the theorem is violated (if one is, nothing else is said)
identity      |v_{t+1} - v_t + eta (1/n) sum g_i| <= tolerance * largest |v|, every step and seed
              (what was said of g_i in place of g_i, where that is what moves v)
noise         avg |(1/n) sum g_i - m|^2 <= sigma2 / n
unbiased      (1/n) sum_i |sum_t (g_i - grad f_i(y_i))|^2 / T <= sigma2: noise without memory
              (gd-convex claims that there is none, bsp-sc-sampling what it says of the noise at x)
descent       the step of the proof, summed over t, in measured quantities (`theory.descents`)
views         in no more views than claimed an update is in the wrong place (ssp-regret)
reach         the run stays as near to x* as claimed (ssp-regret)
reads         |y_t - v_{t - tau_t}| <= tolerance * largest |v|, if delays tau_t were recorded
delays        largest and mean tau_t, and gradients under way, are not above what is claimed
smoothness    avg |grad f(v) - m|^2 <= L^2 P,  P = avg (1/n) sum |y_i - v|^2
steepness     avg (1/n) sum |g_i|^2 <= G2, where a theorem says so
contraction   avg |e_{t+1}|^2 <= (1 - delta) avg |gam g_t + e_t|^2, if the memories e were recorded
compression   avg |mean of what was lost|^2 <= what omega allows, if what was said was recorded
faithful      what was lost adds up like noise does (`theory.descents.unbiased`)
perturbation  P (or, larger, avg |e|^2) <= the theorem's lemma (all replicas equal: 0)
end           without noise v ends where it must, beside x* (`theory.descents.bias`)
bound         the theorem's own left side <= its bound

A stage fails when the lower confidence limit of its ratio (Student's t over seeds, the coverage of
three standard errors) is above 1 and what rounding may do. Averages run over t = 0 .. T-1.
Everything here is a function of arrays, an oracle and the claimed numbers: it does not matter who
ran the algorithm.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from theory.catalogue import THEOREMS
from theory.descents import ENTRIES
from theory.measured import TOLERANCE, Trajectory, measure, square
from theory.statistics import ratio
from theory.testbed import Floats, Oracle

__all__ = ["Stage", "Trajectory", "evaluate"]


@dataclass(frozen=True)
class Stage:
    """One promise: measured / promised, its confidence limits, and what it must not exceed."""

    name: str
    ratio: float
    low: float
    high: float
    limit: float

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
    """Check every stage of the theorem called `theorem` on recorded runs.

    Parameters
    ----------
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
    measured = measure(run, steps, oracle, tolerance)
    exact = (_identity(run, entry.heard, steps, tolerance), *_reads(run, tolerance))
    ratios = {name: ratio(*sides(measured, values)) for name, sides in entry.stages.items()}
    ratios["bound"] = ratio(entry.left(measured), THEOREMS[theorem].at(**claim))
    limit = 1 + math.sqrt(tolerance)  # room for rounding where both sides are equal
    found = (Stage(name, r.value, r.low, r.high, limit) for name, r in ratios.items())
    return (conditions, *exact, *found)


def _shapes(run: Trajectory, values: Mapping[str, float]) -> None:
    seeds, steps, n, d = run.y.shape
    if run.g.shape != run.y.shape or run.v.shape != (seeds, steps + 1, d):
        raise ValueError(f"y {run.y.shape}, g {run.g.shape} and v {run.v.shape} disagree")
    if run.e is not None and run.e.shape != (seeds, steps + 1, n, d):
        raise ValueError(f"y {run.y.shape} and e {run.e.shape} disagree")
    if run.said is not None and run.said.shape != run.g.shape:
        raise ValueError(f"g {run.g.shape} and said {run.said.shape} disagree")
    if run.delays is not None and run.delays.shape != (seeds, steps):
        raise ValueError(f"y {run.y.shape} and delays {run.delays.shape} disagree")
    if (n, steps) != (values["n"], values["T"]):
        raise ValueError(f"{n} workers, {steps} steps; claimed {values['n']}, {values['T']}")


def _identity(run: Trajectory, heard: bool, steps: Floats, tolerance: float) -> Stage:
    moves = run.said if heard else run.g
    if moves is None:
        raise ValueError("this theorem needs what the workers said, which was not recorded")
    moved = run.v[:, 1:] - run.v[:, :-1] + steps[:, None] * moves.mean(axis=2)
    return _exact("identity", moved, run, tolerance)


def _reads(run: Trajectory, tolerance: float) -> tuple[Stage, ...]:
    """Delays mean something only if that many steps ago the model was what was read."""
    if run.delays is None:
        return ()
    read = np.arange(run.delays.shape[1]) - run.delays
    then = np.take_along_axis(run.v, read[:, :, None], axis=1)
    return (_exact("reads", run.y - then[:, :, None], run, tolerance),)


def _exact(name: str, defects: Floats, run: Trajectory, tolerance: float) -> Stage:
    """Return the stage of vectors that vanish up to rounding."""
    scale = float(np.sqrt(square(run.v).max())) or 1.0
    defect = float(np.sqrt(square(defects).max())) / scale
    return Stage(name, defect, defect, defect, limit=tolerance)
