"""Where a bound is attained: problems on which measured / bound reaches 1, by exact moments.

A bound that is attained cannot be improved: nine tenths of it must be violated here, which also
shows that the comparison can fail. No sampling noise: ratios are exact up to rounding.

bsp-nonconvex      iso; ratio 1 - O(1/T)           bsp-sc-const       iso; 1 at every T
bsp-convex         iso, gam = 1/L; ratio 1 - O(1/T)  bsp-sc-decreasing  iso, a = 1; 1 at every T
gd-convex          a Huber function made for T and gam; 1 at every T
qsgd-nonconvex     iso, random entries, own masks or one for all; ratio 1 - O(1/T)
delay-stability    iso, a step just below the longest; 1 in the limit
d2-stability       least eigenvalue -1/3, a short step; 1 in the limit
gossip-consensus   start at the top singular vector of W - J; 1 at every T
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from theory.catalogue import THEOREMS
from theory.delayed import THRESHOLD
from theory.evaluation import Evaluated
from theory.mixing import lam, matrix
from theory.moments import moments
from theory.recursions import simulate
from theory.remembering import largest
from theory.stability import modes
from theory.testbed import Floats
from theory.trials import Trial
from theory.trials.gd import extremal

__all__ = ["ROUNDING", "TIGHTENED", "WORST_CASES", "WorstCase", "exact_ratios", "worst_case"]

TIGHTENED = 0.9  # a bound multiplied by this must be violated
ROUNDING = 1e-9


@dataclass(frozen=True)
class WorstCase:
    """The largest measured / bound over T."""

    theorem: str
    setting: str
    ratio: float

    @property
    def ok(self) -> bool:
        """Whether the bound holds and nine tenths of it do not."""
        return TIGHTENED < self.ratio <= 1 + ROUNDING


def exact_ratios(trial: Trial) -> Floats:
    """Return measured / bound at every T = H, 2 H, .., trial.T, by exact moments.

    Raises
    ------
    ValueError
        If the recursion is not linear, or a condition of the theorem is violated.
    """
    theorem, values = THEOREMS[trial.theorem], trial.values()
    left = moments(trial).left(theorem.measure)
    when = np.arange(trial.H, trial.T + 1, trial.H)
    bounds = np.array([theorem.at(**{**values, "T": int(steps)}) for steps in when])
    ratios: Floats = left[when - 1] / bounds
    return ratios


def _bsp(theorem: str, gam: float = 0.0, offset: float | None = None) -> WorstCase:
    trial = Trial(theorem, "iso", n=8, T=400, gam=gam, offset=offset)
    step = f"gam = {gam}" if offset is None else f"a = {offset}"
    return WorstCase(theorem, f"iso, n = 8, {step}", float(exact_ratios(trial).max()))


def _gossip() -> WorstCase:
    name, n = "gossip-consensus", 8
    w = matrix("ring", n)
    x = np.linalg.svd(w - 1 / n)[2][0]
    ratios = []
    for steps in range(1, 51):
        x = w @ x
        bound = THEOREMS[name].at(lam=lam("ring", n), T=steps, C0=1.0)
        ratios.append(float(np.linalg.norm(x - x.mean())) / bound)
    return WorstCase(name, "ring, n = 8, top singular vector", max(ratios))


def _huber() -> WorstCase:
    ratios = []
    for steps in (1, 2, 5, 20, 200):
        trial = extremal(steps, gam=0.5)
        gap = trial.oracle().value(simulate(trial).v[0, -1])
        ratios.append(float(gap) / THEOREMS[trial.theorem].at(**trial.values()))
    return WorstCase("gd-convex", "huber, gam = 0.5", max(ratios))


def _mask(theorem: str, masks: str) -> WorstCase:
    trial = Trial(theorem, "iso", n=8, T=400, gam=0.5, options={"zeta2": 1.0}, masks=masks)
    trial = replace(trial, compressor="randk", k=5, memory=False)
    setting = f"iso, n = 8, gam = 0.5, 5 of 10 entries, masks: {masks}"
    return WorstCase(theorem, setting, float(exact_ratios(trial).max()))


def _delay() -> WorstCase:
    name = "delay-stability"
    longest = Evaluated(name, THRESHOLD)
    moduli = [modes(late, 0.9999 * longest({"tau": late, "L": 1.0}))[0] for late in range(21)]
    return WorstCase(name, "0.9999 of the longest step, tau to 20", float(max(moduli)))


def _d2() -> WorstCase:
    found = [largest(-1 / 3, step) for step in np.geomspace(1e-6, 1.999, 50)]
    return WorstCase("d2-stability", "eigenvalue -1/3, steps from 1e-6 to 1.999", max(found))


WORST_CASES: dict[str, Callable[[], WorstCase]] = {
    "bsp-nonconvex": lambda: _bsp("bsp-nonconvex", gam=0.5),
    "bsp-sc-const": lambda: _bsp("bsp-sc-const", gam=0.3),
    "bsp-sc-decreasing": lambda: _bsp("bsp-sc-decreasing", offset=1.0),
    "bsp-convex": lambda: _bsp("bsp-convex", gam=1.0),
    "gd-convex": _huber,
    "gossip-consensus": _gossip,
    "delay-stability": _delay,
    "d2-stability": _d2,
    "qsgd-nonconvex": lambda: _mask("qsgd-nonconvex", "own"),
    "qsgd-nonconvex-shared": lambda: _mask("qsgd-nonconvex-shared", "shared"),
}
"""One for every bound that is attained."""


def worst_case(theorem: str) -> WorstCase | None:
    """Return the worst case of a theorem; None if its bound is not known to be attained."""
    return WORST_CASES[theorem]() if theorem in WORST_CASES else None
