"""Axioms of delays: what the server took in while a gradient was under way.

The gradient of step t was taken at x_{t - tau_t}; its window W_t are the steps s with
t - tau_t <= s < t. Step s lies in W_t exactly while gradient t is under way, so the number of
windows that a step lies in is the number of other gradients under way at that step. `counted` and
`delays_add_up` are about averages over t < T, the others about every t.
"""

from __future__ import annotations

import sympy as sp

from theory.axiom import Terms, axiom
from theory.forms import ONE, Form, Scalar, Vector, inner
from theory.statement import Assumption, Status
from theory.symbols import symbol

sigma2, s, Pw = symbol("sigma2"), symbol("s"), symbol("Pw")
taumax, tauC, tauavg = symbol("taumax"), symbol("tauC"), symbol("tauavg")

SWAPPED = "a double sum in the other order"
WAITING = "after Ho et al. 2013: of every other worker, only certain pushes can come in between"


@axiom(Status.SAMPLED, "Cauchy-Schwarz")
def window(total: Vector, within: Scalar, longest: sp.Expr) -> Terms:
    """The sum of at most m vectors: |sum_{s in W_t} u_s|^2 <= m sum_{s in W_t} |u_s|^2."""
    return {"squares": Form.of(within, longest), "sum": -1 * inner(total, total)}


@axiom(Status.SAMPLED, SWAPPED)
def counted(within: Scalar, each: Vector, times: sp.Expr) -> Terms:
    """If every step is in at most m windows, avg_t sum_{s in W_t} |u_s|^2 <= m avg_t |u_t|^2."""
    return {"each": times * inner(each, each), "within": Form.of(within, -1)}


@axiom(Status.SAMPLED, SWAPPED)
def delays_add_up(delay: Scalar, under_way: Scalar) -> Terms:
    """Delays are counts: avg_t tau_t <= the largest number of windows that a step lies in."""
    return {"under way": Form.of(under_way), "delay": Form.of(delay, -1)}


@axiom(
    Status.SAMPLED,
    "the noise has zero mean given all noise before it",
    Assumption.UNBIASED,
    equality=True,
)
def orthogonal_sum(total: Vector, within: Scalar) -> Terms:
    """Noise of different steps is orthogonal: E|sum_{s in W_t} xi_s|^2 = sum_s E|xi_s|^2."""
    return {"sum": inner(total, total), "squares": Form.of(within, -1)}


@axiom(Status.ASSUMED, "hypothesis sigma2", Assumption.VARIANCE, Assumption.EQUAL)
def summed_variance(within: Scalar, count: Scalar) -> Terms:
    """The noise of m gradients of f, of whichever workers: sum_s E|xi_s|^2 <= m sigma2."""
    return {"sigma2": Form.of(count, sigma2), "noise": Form.of(within, -1)}


@axiom(Status.ASSUMED, "hypothesis taumax", Assumption.DELAYS)
def longest_delay(delay: Scalar) -> Terms:
    """No gradient is older than this: max_t tau_t <= taumax."""
    return {"taumax": Form.of(ONE, taumax), "delay": Form.of(delay, -1)}


@axiom(Status.ASSUMED, "hypothesis tauC", Assumption.DELAYS)
def most_under_way(under_way: Scalar) -> Terms:
    """No step lies in more windows than this: max_s #{t : s in W_t} <= tauC."""
    return {"tauC": Form.of(ONE, tauC), "under way": Form.of(under_way, -1)}


@axiom(Status.ASSUMED, "hypothesis tauavg", Assumption.DELAYS)
def mean_delay(delay: Scalar) -> Terms:
    """Gradients are this old on average: avg_t tau_t <= tauavg."""
    return {"tauavg": Form.of(ONE, tauavg), "delay": Form.of(delay, -1)}


@axiom(Status.SAMPLED, WAITING, Assumption.GATE)
def gate(delay: Scalar) -> Terms:
    """With staleness s of Pw workers, max_t tau_t <= (2 s + 1)(Pw - 1).

    A worker that reads for its clock c finds at least c - s clocks of everyone else; until it has
    pushed clock c, nobody else can push clock c + s + 1. So of each of the others at most the
    2 s + 1 clocks c - s, .., c + s come in between (identity `gate_delays` visits all schedules).
    """
    return {"gate": Form.of(ONE, (2 * s + 1) * (Pw - 1)), "delay": Form.of(delay, -1)}


@axiom(Status.SAMPLED, "a worker reads again after its push only", Assumption.GATE)
def one_each(under_way: Scalar) -> Terms:
    """Each of the other workers has at most one gradient under way."""
    return {"workers": Form.of(ONE, Pw - 1), "under way": Form.of(under_way, -1)}
