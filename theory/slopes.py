"""Rates as rates: how the measured left side falls with T and with n at the recommended step.

For every theorem with a recommended step the recursion runs at that step for a grid of T (n fixed)
and a grid of n (T fixed); log measured is fitted over log T and log n. Measured is exact (moments)
where the recursion is linear, else a mean over seeds with a bootstrap interval. It is compared
with the same fit of the theorem's own bound, which for large T is the theorem's exponent:
logarithms and lower orders are in both.

A slope says something only in the noise regime, at every point of the grid: the step is free (not
clipped at its largest value, where it would not fall with T), the start is forgotten (gam L T is
large), and the bound itself falls almost with its exponent. A slope outside is a failure. Where
there is no noise, the recommended step is the longest for every T.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from theory.catalogue import THEOREMS
from theory.descents import ENTRIES
from theory.evaluation import Evaluated
from theory.measured import measure
from theory.moments import linear, moments
from theory.recursions import simulate
from theory.statistics import Estimate, exact_slope, slope
from theory.symbols import symbol
from theory.testbed import Floats
from theory.trials import Trial

__all__ = ["TOLERANCE", "Slope", "slopes"]

TOLERANCE = 0.1  # of an exponent, between measured and bound
ASYMPTOTIC = 0.2  # of an exponent, between the bound on the grid and at T = infinity
FORGOTTEN = 0.01  # most that may be left of the start


@dataclass(frozen=True)
class Slope:
    """A measured exponent beside the theorem's.

    Parameters
    ----------
    axis : str
        "T" or "n".
    points : tuple of int
        Where it was measured.
    rate : float
        The theorem's exponent for large T.
    expected : float
        The exponent of its bound on these points.
    measured : Estimate
        Fit and interval.
    free : bool
        Whether at every point the step is free and the start forgotten.
    """

    axis: str
    points: tuple[int, ...]
    rate: float
    expected: float
    measured: Estimate
    free: bool

    @property
    def ok(self) -> bool:
        """Whether the regime is right and the interval comes within TOLERANCE of the bound's."""
        near = self.measured.low - TOLERANCE <= self.expected <= self.measured.high + TOLERANCE
        return self.free and near and abs(self.expected - self.rate) <= ASYMPTOTIC

    def __str__(self) -> str:
        measured, where = self.measured, "" if self.free else " outside the noise regime"
        limits = f"[{measured.low:.3f}, {measured.high:.3f}]"
        return f"{self.axis}: {measured.value:.3f} {limits}, bound {self.expected:.3f}{where}"


_ISO = Trial("", "iso", n=4, T=8000, options={"d": 1, "radius": 0.3})
_FAR = replace(_ISO, options={"d": 1, "radius": 1.0})
_FEEDBACK = replace(_ISO, options={"d": 4, "radius": 0.3}, compressor="topk", k=2)
_FEEDBACK = replace(_FEEDBACK, T=1000, seeds=16)
_MASK = replace(_ISO, options={"d": 2, "radius": 0.3}, T=2000, memory=False)
_MASK = replace(_MASK, compressor="randk", k=1)
_QUIET = {"d": 4, "sigma2": 0.0, "zeta2": 0.1}
_NEWS = replace(_FEEDBACK, options=_QUIET, refers=True, seeds=1)
_TURNS = replace(_ISO, staleness=np.inf, pace="even", seeds=1)  # round robin: exact moments
_ROWS = Trial("", "least_squares", 4, 4000, options={"samples": 50, "spectrum": (1.0, 1.0)})
_BUMPS = Trial("", "nc", 4, 4000, options={"d": 1, "radius": 0.3, "sigma2": 5.0}, H=2)
_PEERS = replace(_BUMPS, T=8000, H=1, topology="one_peer_exponential")
_PEERS = replace(_PEERS, options={"d": 1, "radius": 0.3, "sigma2": 20.0})
_LONG, _WIDE = (1000, 2000, 4000, 8000), (1, 2, 4, 8, 16)
_SHORT = (250, 500, 1000, 2000)  # where the moments are not exact
RATES: dict[str, tuple[Trial, tuple[int, ...], tuple[int, ...]]] = {
    "bsp-nonconvex": (_ISO, _LONG, _WIDE),
    "bsp-sc-const": (_FAR, _LONG, _WIDE),
    "bsp-sc-decreasing": (replace(_ISO, offset=1.0), _LONG, _WIDE),
    "bsp-convex": (_ISO, _LONG, _WIDE),
    "local-sgd-sc-iid": (replace(_FAR, H=4), _LONG, _WIDE),
    "local-sgd-convex-iid": (replace(_ISO, H=4), _LONG, _WIDE),
    "local-sgd-nonconvex": (replace(_ISO, H=4), _LONG, _WIDE),
    "dpsgd-nonconvex-atc": (replace(_ISO, topology="ring"), _LONG, _WIDE[:4]),
    "dpsgd-nonconvex-cta": (replace(_ISO, topology="ring", order="cta"), _LONG, _WIDE[:4]),
    "bsp-sc-sampling": (_ROWS, (500, *_LONG[:3]), _WIDE),
    "asgd-nonconvex": (_TURNS, _LONG, _WIDE),
    "ssp-nonconvex": (replace(_TURNS, staleness=1), _LONG, _WIDE),
    "ef-sgd-nonconvex": (_FEEDBACK, _SHORT, _WIDE[:4]),
    "ef-sgd-convex": (replace(_FEEDBACK, k=3), _SHORT, _WIDE[:4]),
    "ef-sgd-sc": (replace(_FEEDBACK, options={"d": 4}, k=3), _SHORT, _WIDE[:4]),
    "qsgd-nonconvex": (_MASK, _LONG, _WIDE),
    "qsgd-nonconvex-shared": (replace(_MASK, masks="shared"), _LONG, _WIDE),
    "ef21": (_NEWS, _SHORT, _WIDE[1:4]),
    "pr-sgd": (_BUMPS, _LONG, _WIDE[:4]),
    "post-local-sgd": (replace(_BUMPS, after=100), _LONG, _WIDE[:4]),
    "local-momentum-G": (replace(_BUMPS, mom=0.3), _LONG, _WIDE[:4]),
    "composition-G": (replace(_BUMPS, topology="hypercube", H=1), _LONG, _WIDE[:3]),
    "one-peer-exp": (_PEERS, _LONG[1:], _WIDE[1:4]),
    "adpsgd-sync": (replace(_BUMPS, H=1, order="pairs", topology="complete"), _LONG, _WIDE[:4]),
    "momentum-nonconvex": (replace(_ISO, mom=0.5), _LONG, _WIDE),
    "cooperative-sgd": (replace(_ISO, topology="hypercube", H=2), _LONG, _WIDE[:4]),
}
"""Theorem: trial at its default T and n, grid of T, grid of n."""


def slopes(theorem: str) -> tuple[Slope, ...]:
    """Return the slopes of a theorem in T and in n; none if it has no recommended step."""
    tuned = THEOREMS[theorem].tuned
    if tuned is None:
        return ()
    base, long, wide = RATES[theorem]
    base = replace(base, theorem=theorem)
    in_t = [replace(base, T=steps) for steps in long]
    in_n = [replace(base, n=workers) for workers in wide]
    rate_t, rate_n = float(tuned.rate_T), float(tuned.rate_n)
    return _slope("T", long, in_t, rate_t), _slope("n", wide, in_n, rate_n)


def _slope(axis: str, points: tuple[int, ...], trials: Sequence[Trial], rate: float) -> Slope:
    trials = [_tuned(trial) for trial in trials]
    bounds = [THEOREMS[trial.theorem].at(**trial.values()) for trial in trials]
    samples = np.stack([_left(trial) for trial in trials], axis=1)
    exact = len(samples) == 1
    measured = exact_slope(points, samples[0]) if exact else slope(points, samples)
    expected = exact_slope(points, bounds).value
    return Slope(axis, points, rate, expected, measured, all(_free(trial) for trial in trials))


def _tuned(trial: Trial) -> Trial:
    """Return the trial at the theorem's recommended step; a decreasing step is so already."""
    tuned = THEOREMS[trial.theorem].tuned
    if tuned is None or trial.offset is not None:
        return trial
    values = {name: np.float64(value) for name, value in trial.values().items()}
    with np.errstate(divide="ignore"):  # a term that is zero does not limit the step
        step = Evaluated(trial.theorem, tuned.step)(values)
    return replace(trial, gam=float(step))


def _free(trial: Trial) -> bool:
    """Whether the step falls with T here, if it ever does, and the start is forgotten."""
    gam, longer = trial.steps(), _tuned(replace(trial, T=2 * trial.T)).steps()
    tuned = THEOREMS[trial.theorem].tuned
    constant = tuned is not None and not tuned.step.has(symbol("T"), symbol("t"))
    left_of_start = np.prod(np.abs(1 - gam * trial.oracle().L))
    return bool((constant or longer[-1] < 0.9 * gam[-1]) and left_of_start <= FORGOTTEN)


def _left(trial: Trial) -> Floats:
    """Return the left side of the bound: exact, (1,), or of every seed, (S,)."""
    if linear(trial):
        return moments(trial).left(THEOREMS[trial.theorem].measure)[-1:]
    run = simulate(trial)
    return ENTRIES[trial.theorem].left(measure(run, trial.steps(), trial.oracle()))
