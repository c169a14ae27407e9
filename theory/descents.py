"""The inequalities of each proof, in measured quantities: left and right side of every stage.

A stage is a function (measured, values) -> (left, right); left is (S,), one number per seed, right
is (S,) or a number. Averages run over t = 0 .. T-1.

descent of every theorem called nonconvex is the master lemma, with A, B, Q the averages of
|grad f(v)|^2, |m|^2 and |grad f(v) - m|^2:
    A + (1 - gam L) B <= 2 (f(v_0) - f(v_T)) / (gam T) + gam L sigma2 / n + Q
descent of the others is their one-step inequality in e_t = |v_t - x*|^2, summed with weights
1 / gam_t^2, so that every step counts alike and the right side is the noise, sigma2 / n:
    bsp-sc-const       e_{t+1} <= rho^2 e_t + gam^2 sigma2 / n
    bsp-sc-decreasing  e_{t+1} <= (1 - gam_t mu)^2 e_t + gam_t^2 sigma2 / n
    bsp-convex         e_{t+1} <= e_t - 2 gam (f(v_t) - f*) + gam^2 sigma2 / n
    local-sgd-sc-iid   e_{t+1} <= (1 - gam mu) e_t + gam L (1 + gam L) D_t + gam^2 sigma2 / n
contraction of ef-sgd-nonconvex: what a worker keeps, against what it wanted to say.
gossip-consensus has no gradients: its perturbation stage is the contraction of every step,
|X_{t+1} - J X_{t+1}| <= lam |X_t - J X_t|.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from theory.catalogue import THEOREMS
from theory.measured import Measured
from theory.testbed import Floats

__all__ = ["ENTRIES", "Entry", "Sides", "Values"]

Values: TypeAlias = Mapping[str, float]


Sides: TypeAlias = Callable[[Measured, Values], tuple[Floats, Floats | float]]


@dataclass(frozen=True)
class Entry:
    """How a theorem is checked: its stages, its left side, and its step sizes."""

    stages: Mapping[str, Sides]
    left: Callable[[Measured], Floats]
    steps: Callable[[Values], Floats]
    at: Callable[[Values], Values] = dict  # the numbers that the theorem itself is asked with


def _constant(values: Values) -> Floats:
    return np.full(int(values["T"]), values["gam"])


def _decreasing(values: Values) -> Floats:
    steps: Floats = 1 / (values["mu"] * (np.arange(int(values["T"])) + values["a"]))
    return steps


def _average(per_step: Floats) -> Floats:
    """Average (S, T) over the steps of each seed."""
    average: Floats = per_step.mean(axis=1)
    return average


def _unbiased(measured: Measured, values: Values) -> tuple[Floats, float]:
    return measured.drift, values["sigma2"]


def _noise(measured: Measured, values: Values) -> tuple[Floats, float]:
    return _average(measured.noise), values["sigma2"] / values["n"]


def _smoothness(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    return _average(measured.deviation), values["L"] ** 2 * _average(measured.spread)


def _master(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    eta, L = values["gam"], values["L"]
    left = _average(measured.gradient) + (1 - eta * L) * _average(measured.mean_gradient)
    fallen = measured.loss[:, 0] - measured.loss[:, -1]
    noise = eta * L * values["sigma2"] / values["n"]
    right = 2 * fallen / (eta * values["T"]) + noise + _average(measured.deviation)
    return left, right


def _const(measured: Measured, values: Values) -> tuple[Floats, float]:
    gam, e = values["gam"], measured.error
    rho2 = max(abs(1 - gam * values["mu"]), abs(1 - gam * values["L"])) ** 2
    return (e[:, 1:] - rho2 * e[:, :-1]).mean(axis=1) / gam**2, values["sigma2"] / values["n"]


def _shrinking(measured: Measured, values: Values) -> tuple[Floats, float]:
    gam, e = _decreasing(values), measured.error
    left = (e[:, 1:] - (1 - gam * values["mu"]) ** 2 * e[:, :-1]) / gam**2
    return _average(left), values["sigma2"] / values["n"]


def _convex(measured: Measured, values: Values) -> tuple[Floats, float]:
    gam, e = values["gam"], measured.error
    left = e[:, 1:] - e[:, :-1] + 2 * gam * measured.loss[:, :-1]
    return _average(left) / gam**2, values["sigma2"] / values["n"]


def _local_convex(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    gam, L, e = values["gam"], values["L"], measured.error
    left = e[:, 1:] - (1 - gam * values["mu"]) * e[:, :-1]
    drift = L * (1 + gam * L) * _average(measured.spread) / gam
    return _average(left) / gam**2, drift + values["sigma2"] / values["n"]


def _walks(measured: Measured, values: Values) -> tuple[Floats, float]:
    """Equal convex f_i: D_k <= k gam^2 sigma2 (1 - 1/n) after k local steps; averaged over k."""
    one = values["gam"] ** 2 * values["sigma2"] * (1 - 1 / values["n"])
    return _average(measured.spread), one * (values["H"] - 1) / 2


def _contraction(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    """What a worker keeps of what it wanted to say; 0 <= 0 if no memories were recorded."""
    if measured.kept is None or measured.pushed is None:
        return np.zeros(len(measured.noise)), np.zeros(len(measured.noise))
    said = (1 - values["delta"]) * _average(measured.pushed)
    return _average(measured.kept[:, 1:]), said


def _memory(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    """|mean e|^2 <= E, E_{t+1} <= (1 - delta/2) E_t + what is added, summed over t."""
    delta, gam = values["delta"], values["gam"]
    push = (2 - delta) / delta * (_average(measured.mean_gradient) + values["zeta2"])
    added = gam**2 * (1 - delta) * (push + values["sigma2"])
    kept = measured.spread if measured.kept is None else measured.kept[:, :-1]
    return _average(kept), 2 / delta * added


def _mixing(measured: Measured, values: Values) -> tuple[Floats, float]:
    """Return the largest factor of a step per seed, while more than rounding is left."""
    norm = np.sqrt(measured.spread)
    before, after, start = norm[:, :-1], norm[:, 1:], norm[:, :1]
    seen = before > np.sqrt(measured.tolerance) * start
    left = np.where(after > measured.tolerance * start, after, 0.0)
    factor = np.divide(left, before, out=np.zeros_like(left), where=seen)
    return factor.max(axis=1), values["lam"]


def _lemma(theorem: str) -> Sides:
    """P against the perturbation lemma of the theorem; 0 where replicas are equal."""

    def sides(measured: Measured, values: Values) -> tuple[Floats, float]:
        return _average(measured.spread), THEOREMS[theorem].perturbation_at(**values)

    return sides


def _entry(
    theorem: str,
    descent: Sides,
    left: Callable[[Measured], Floats],
    perturbation: Sides | None = None,
    steps: Callable[[Values], Floats] = _constant,
) -> Entry:
    stages = {
        "noise": _noise,
        "unbiased": _unbiased,
        "descent": descent,
        "smoothness": _smoothness,
        "perturbation": perturbation or _lemma(theorem),
    }
    return Entry(stages, left, steps)


def _gradient(measured: Measured) -> Floats:
    return _average(measured.gradient)


def _gradient_at_x(measured: Measured) -> Floats:
    return _average(measured.mean_gradient)  # all y_i = x, so m = grad f(x)


def _gap(measured: Measured) -> Floats:
    return _average(measured.loss[:, :-1])


def _last(measured: Measured) -> Floats:
    return measured.error[:, -1]


def _disagreement(measured: Measured) -> Floats:
    """|X - J X|_F at the last recorded step over that of the start; rounding is zero."""
    start, last = np.sqrt(measured.spread[:, 0]), np.sqrt(measured.spread[:, -1])
    left = np.where(last > measured.tolerance * start, last, 0.0)
    return np.divide(left, start, out=np.zeros_like(left), where=start > 0)


def _relative(values: Values) -> Values:
    return {**values, "T": values["T"] - 1, "C0": 1.0}


_FEEDBACK = _entry("ef-sgd-nonconvex", _master, _gradient_at_x, perturbation=_memory)
ENTRIES: dict[str, Entry] = {
    "bsp-nonconvex": _entry("bsp-nonconvex", _master, _gradient),
    "bsp-sc-const": _entry("bsp-sc-const", _const, _last),
    "bsp-sc-decreasing": _entry("bsp-sc-decreasing", _shrinking, _last, steps=_decreasing),
    "bsp-convex": _entry("bsp-convex", _convex, _gap),
    "local-sgd-sc-iid": _entry("local-sgd-sc-iid", _local_convex, _last, perturbation=_walks),
    "local-sgd-nonconvex": _entry("local-sgd-nonconvex", _master, _gradient),
    "local-sgd-nonconvex-iid": _entry("local-sgd-nonconvex-iid", _master, _gradient),
    "gossip-consensus": Entry({"perturbation": _mixing}, _disagreement, _constant, _relative),
    "dpsgd-nonconvex-atc": _entry("dpsgd-nonconvex-atc", _master, _gradient),
    "ef-sgd-nonconvex": replace(
        _FEEDBACK, stages={**_FEEDBACK.stages, "contraction": _contraction}
    ),
}
"""How each theorem is checked."""
