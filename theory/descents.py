"""The inequalities of each proof, in measured quantities: left and right side of every stage.

A stage is a function (measured, values) -> (left, right); left is (S,), one number per seed, right
is (S,) or a number. Averages run over t = 0 .. T-1.

descent of bsp-nonconvex, local-sgd-nonconvex, dpsgd-nonconvex-atc and ef-sgd-nonconvex, the master
lemma (A, B, Q = avg |grad f(v)|^2, |m|^2, |grad f(v) - m|^2):
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
from theory.testbed import Floats

__all__ = ["ENTRIES", "Entry", "Measured", "Sides", "Values"]

Values: TypeAlias = Mapping[str, float]


@dataclass(frozen=True)
class Measured:
    """Measured quantities of S runs.

    Parameters
    ----------
    noise, gradient, mean_gradient, deviation, spread : (S, T)
        |mean g - m|^2, |grad f(v)|^2, |m|^2, |grad f(v) - m|^2, (1/n) sum |y_i - v|^2.
    loss : (S, T + 1)
        f(v) - f*.
    distance : (S, T + 1) or None
        |v - x*|^2; None if x* is unknown.
    kept, pushed : (S, T + 1), (S, T), or None
        (1/n) sum |e_i|^2 and (1/n) sum |gam g_i + e_i|^2; None if no memories were recorded.
    """

    noise: Floats
    gradient: Floats
    mean_gradient: Floats
    deviation: Floats
    spread: Floats
    loss: Floats
    distance: Floats | None
    kept: Floats | None
    pushed: Floats | None

    @property
    def error(self) -> Floats:
        """|v - x*|^2, (S, T + 1).

        Raises
        ------
        ValueError
            If x* is unknown.
        """
        if self.distance is None:
            raise ValueError("this theorem needs the minimiser x*, which the problem does not know")
        return self.distance


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


def _noise(measured: Measured, values: Values) -> tuple[Floats, float]:
    return measured.noise.mean(axis=1), values["sigma2"] / values["n"]


def _smoothness(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    return measured.deviation.mean(axis=1), values["L"] ** 2 * measured.spread.mean(axis=1)


def _master(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    eta, L = values["gam"], values["L"]
    left = measured.gradient.mean(axis=1) + (1 - eta * L) * measured.mean_gradient.mean(axis=1)
    fallen = measured.loss[:, 0] - measured.loss[:, -1]
    noise = eta * L * values["sigma2"] / values["n"]
    right = 2 * fallen / (eta * values["T"]) + noise + measured.deviation.mean(axis=1)
    return left, right


def _const(measured: Measured, values: Values) -> tuple[Floats, float]:
    gam, e = values["gam"], measured.error
    rho2 = max(abs(1 - gam * values["mu"]), abs(1 - gam * values["L"])) ** 2
    return (e[:, 1:] - rho2 * e[:, :-1]).mean(axis=1) / gam**2, values["sigma2"] / values["n"]


def _shrinking(measured: Measured, values: Values) -> tuple[Floats, float]:
    gam, e = _decreasing(values), measured.error
    left = (e[:, 1:] - (1 - gam * values["mu"]) ** 2 * e[:, :-1]) / gam**2
    return left.mean(axis=1), values["sigma2"] / values["n"]


def _convex(measured: Measured, values: Values) -> tuple[Floats, float]:
    gam, e = values["gam"], measured.error
    left = e[:, 1:] - e[:, :-1] + 2 * gam * measured.loss[:, :-1]
    return left.mean(axis=1) / gam**2, values["sigma2"] / values["n"]


def _local_convex(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    gam, L, e = values["gam"], values["L"], measured.error
    left = e[:, 1:] - (1 - gam * values["mu"]) * e[:, :-1]
    drift = L * (1 + gam * L) * measured.spread.mean(axis=1) / gam
    return left.mean(axis=1) / gam**2, drift + values["sigma2"] / values["n"]


def _walks(measured: Measured, values: Values) -> tuple[Floats, float]:
    """Equal convex f_i: D_k <= k gam^2 sigma2 (1 - 1/n) after k local steps; averaged over k."""
    one = values["gam"] ** 2 * values["sigma2"] * (1 - 1 / values["n"])
    return measured.spread.mean(axis=1), one * (values["H"] - 1) / 2


def _contraction(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    """What a worker keeps of what it wanted to say; 0 <= 0 if no memories were recorded."""
    if measured.kept is None or measured.pushed is None:
        return np.zeros(len(measured.noise)), np.zeros(len(measured.noise))
    said = (1 - values["delta"]) * measured.pushed.mean(axis=1)
    return measured.kept[:, 1:].mean(axis=1), said


def _memory(measured: Measured, values: Values) -> tuple[Floats, Floats]:
    """|mean e|^2 <= E, E_{t+1} <= (1 - delta/2) E_t + what is added, summed over t."""
    delta, gam = values["delta"], values["gam"]
    push = (2 - delta) / delta * (measured.mean_gradient.mean(axis=1) + values["zeta2"])
    added = gam**2 * (1 - delta) * (push + values["sigma2"])
    kept = measured.spread if measured.kept is None else measured.kept[:, :-1]
    return kept.mean(axis=1), 2 / delta * added


def _mixing(measured: Measured, values: Values) -> tuple[Floats, float]:
    """Return the largest factor of a step per seed, while more than rounding is left."""
    norm = np.sqrt(measured.spread)
    seen = norm[:, :-1] > 1e-9 * norm[:, :1]
    factor = np.divide(norm[:, 1:], norm[:, :-1], out=np.zeros_like(norm[:, 1:]), where=seen)
    return factor.max(axis=1), values["lam"] * (1 + 1e-9)


def _lemma(theorem: str) -> Sides:
    """P against the perturbation lemma of the theorem; 0 where replicas are equal."""

    def sides(measured: Measured, values: Values) -> tuple[Floats, float]:
        return measured.spread.mean(axis=1), THEOREMS[theorem].perturbation_at(**values)

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
        "descent": descent,
        "smoothness": _smoothness,
        "perturbation": perturbation or _lemma(theorem),
    }
    return Entry(stages, left, steps)


def _gradient(measured: Measured) -> Floats:
    return measured.gradient.mean(axis=1)


def _gradient_at_x(measured: Measured) -> Floats:
    return measured.mean_gradient.mean(axis=1)  # all y_i = x, so m = grad f(x)


def _gap(measured: Measured) -> Floats:
    return measured.loss[:, :-1].mean(axis=1)


def _last(measured: Measured) -> Floats:
    return measured.error[:, -1]


def _disagreement(measured: Measured) -> Floats:
    """|X - J X|_F at the last recorded step over that of the start."""
    return np.sqrt(measured.spread[:, -1] / measured.spread[:, 0])


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
    "gossip-consensus": Entry({"perturbation": _mixing}, _disagreement, _constant, _relative),
    "dpsgd-nonconvex-atc": _entry("dpsgd-nonconvex-atc", _master, _gradient),
    "ef-sgd-nonconvex": replace(
        _FEEDBACK, stages={**_FEEDBACK.stages, "contraction": _contraction}
    ),
}
"""How each theorem is checked."""
