"""What the stages of several families share: entries, averages, the master lemma.

A stage is a function (measured, values) -> (left, right); left is (S,), one number per seed, right
is (S,) or a number. Averages run over t = 0 .. T-1.

The descent of every theorem called nonconvex is the master lemma, with A, B, Q the averages of
|grad f(v)|^2, |m|^2 and |grad f(v) - m|^2:
    A + (1 - gam L) B <= 2 (f(v_0) - f(v_T)) / (gam T) + gam L sigma2 / n + Q
That of the others is their one-step inequality in e_t = |v_t - x*|^2, summed with weights
1 / gam_t^2, so that every step counts alike and the right side is the noise, sigma2 / n.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from theory.catalogue import THEOREMS
from theory.measured import Measured
from theory.testbed import Floats

__all__ = ["Entry", "Sides", "Values", "average", "constant", "disagreement", "entry", "gap"]
__all__ += ["gradient", "gradient_at_x", "grows", "last", "master", "noise", "quiet", "relative"]
__all__ += ["smoothness", "unbiased"]

Values: TypeAlias = Mapping[str, float]
Sides: TypeAlias = Callable[[Measured, Values], tuple[Floats, Floats | float]]


@dataclass(frozen=True)
class Entry:
    """How a theorem is checked: its stages, its left side, and its step sizes."""

    stages: Mapping[str, Sides]
    left: Callable[[Measured], Floats]
    steps: Callable[[Values], Floats]
    at: Callable[[Values], Values] = dict  # the numbers that the theorem itself is asked with
    heard: bool = False  # whether v moves by what was said of the gradients, not by these


def constant(values: Values) -> Floats:
    """Return the step sizes (T,), all gam."""
    return np.full(int(values["T"]), values["gam"])


def average(per_step: Floats) -> Floats:
    """Average (S, T) over the steps of each seed."""
    mean: Floats = per_step.mean(axis=1)
    return mean


def unbiased(measured: Measured, values: Values) -> tuple[Floats, float]:
    """The noise has no memory."""
    return measured.drift, values["sigma2"]


def noise(measured: Measured, values: Values) -> tuple[Floats, float]:
    """The noise of the mean is one n-th of that of a worker."""
    return average(measured.noise), values["sigma2"] / values["n"]


def quiet(measured: Measured, values: Values) -> tuple[Floats, float]:
    """There is no noise."""
    return average(measured.noise), 0.0


def smoothness(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    """The mean gradient differs from that at v by at most L sqrt(P)."""
    return average(measured.deviation), values["L"] ** 2 * average(measured.spread)


def master(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    """The descent lemma, summed over t."""
    eta, L = values["gam"], values["L"]
    left = average(measured.gradient) + (1 - eta * L) * average(measured.mean_gradient)
    fallen = measured.loss[:, 0] - measured.loss[:, -1]
    noisy = eta * L * values["sigma2"] / values["n"]
    right = 2 * fallen / (eta * values["T"]) + noisy + average(measured.deviation)
    return left, right


def lemma(theorem: str) -> Sides:
    """P against the perturbation lemma of the theorem; 0 where replicas are equal."""

    def sides(measured: Measured, values: Values) -> tuple[Floats, float]:
        return average(measured.spread), THEOREMS[theorem].perturbation_at(**values)

    return sides


def entry(
    theorem: str,
    descent: Sides,
    left: Callable[[Measured], Floats],
    perturbation: Sides | None = None,
    steps: Callable[[Values], Floats] = constant,
) -> Entry:
    """Return the entry with the usual stages, and these two."""
    stages = {
        "noise": noise,
        "unbiased": unbiased,
        "descent": descent,
        "smoothness": smoothness,
        "perturbation": perturbation or lemma(theorem),
    }
    return Entry(stages, left, steps)


def gradient(measured: Measured) -> Floats:
    """Return the average of |grad f(v)|^2, (S,)."""
    return average(measured.gradient)


def gradient_at_x(measured: Measured) -> Floats:
    """Return the average of |grad f(x)|^2, (S,): all y_i = x, so m = grad f(x)."""
    return average(measured.mean_gradient)


def gap(measured: Measured) -> Floats:
    """Return the average of f(v) - f*, (S,)."""
    return average(measured.loss[:, :-1])


def last(measured: Measured) -> Floats:
    """Return |v_T - x*|^2, (S,)."""
    return measured.error[:, -1]


def grows(squares: Floats) -> Floats:
    """Return the factor a step by which roots of (S, T) grow: that of the last two quarters."""
    quarter = squares.shape[1] // 4
    last = squares[:, -quarter:].max(axis=1)
    before = squares[:, -2 * quarter : -quarter].max(axis=1)
    grown = np.divide(last, before, out=np.zeros_like(last), where=before > 0)
    factor: Floats = grown ** (1 / (2 * quarter))
    return factor


def disagreement(measured: Measured) -> Floats:
    """|X - J X|_F at the last recorded step over that of the start; rounding is zero."""
    start, last = np.sqrt(measured.spread[:, 0]), np.sqrt(measured.spread[:, -1])
    left = np.where(last > measured.tolerance * start, last, 0.0)
    return np.divide(left, start, out=np.zeros_like(left), where=start > 0)


def relative(values: Values) -> Values:
    """Ask for the last recorded step, from a start of length 1."""
    return {**values, "T": values["T"] - 1, "C0": 1.0}
