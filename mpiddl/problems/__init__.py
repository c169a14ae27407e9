"""What is learnt, with its constants.

A problem is n objectives f_1 .. f_n, one per worker, and f = (1/n) sum f_i. It computes stochastic
gradients layer by layer, announcing NEED before it reads a layer of x and READY once that layer's
gradient is final, and it knows its constants: computed, never assumed; None means unknown.

    made up     iso spec het heta bez       quadratics: every constant exact, many bounds attained
                huber pseudo_huber          convex, flat far out
                softplus                    strongly convex and skewed
                nc                          not convex
                least_squares               rows, drawn at random
    real data   diabetes                    least squares, badly conditioned
                breast_cancer               logistic regression; logistic_nonconvex: not convex
                digits digits_mlp           softmax regression, a small network; held-out images

The first line of each one's docstring says what it is good for. Workers are alike until an option
makes them differ: `zeta2=1.0` on any problem, `sharding="disjoint"` and `sort=True` on data.

Reading order: base.py, synthetic.py, quadratic.py, nonconvex.py, huber.py, pseudo_huber.py,
softplus.py, heta.py; then datasets.py, sharding.py, sampling.py, penalty.py, finite_sum.py,
minimum.py and the data: least_squares.py, diabetes.py, logistic_loss.py, logistic.py,
breast_cancer.py, logistic_nonconvex.py, network.py, digits.py, digits_mlp.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from mpiddl.arrays import Array
from mpiddl.errors import ConfigurationError
from mpiddl.layout import Layout
from mpiddl.registry import Registry

__all__ = ["NEED", "READY", "Constants", "Event", "Problem", "problem", "problems"]


class Event(Enum):
    """What a gradient announces of a layer."""

    NEED = "need"
    READY = "ready"


NEED, READY = Event.NEED, Event.READY


@dataclass(frozen=True)
class Constants:
    """The constants of the theorems; None means unknown.

    Parameters
    ----------
    L : float or None
        Smoothness of every f_i.
    mu : float or None
        Strong convexity of every f_i; 0 for convex, None if not convex.
    sigma2 : float or None
        Bound on E|g_i(x) - grad f_i(x)|^2, total over coordinates, per worker and step.
    zeta2 : float or None
        Bound on (1/n) sum_i |grad f_i(x) - grad f(x)|^2.
    f_star : float or None
        The minimum of f.
    """

    L: float | None
    mu: float | None
    sigma2: float | None
    zeta2: float | None
    f_star: float | None


class Problem(Protocol):
    """n objectives over one flat vector of d parameters."""

    name: str
    workers: int
    seed: int
    layout: Layout
    dtype: Any
    options: Mapping[str, Any]  # what `problem` was told

    @property
    def constants(self) -> Constants:
        """The constants of all f_i."""

    @property
    def optimum(self) -> Array | None:
        """The minimiser x* (d,), or None if unknown or not unique."""

    def start(self) -> Array:
        """Return x0 (d,), the same on every rank."""

    def batch(self, worker: int, step: int) -> Any:
        """Return what `gradient` needs at this step, from the stream of (seed, worker, step)."""

    def gradient(self, x: Array, batch: Any, out: Array) -> Iterator[tuple[Event, int]]:
        """Write the stochastic gradient at `x` into `out` (d,), announcing layers.

        Yields (NEED, layer), first layer to last, before x[layer] is read, then (READY, layer),
        last to first, once out[layer] is final. After READY it neither reads x[layer] nor writes
        out[layer].
        """

    def loss(self, x: Array) -> float:
        """Return f(x), the full objective."""

    def full_gradient(self, x: Array, worker: int | None = None) -> Array:
        """Return grad f(x), or grad f_i(x) of one worker, exactly; (d,), a new array."""

    def noise2(self, x: Array) -> float:
        """Return (1/n) sum_i E|g_i(x) - grad f_i(x)|^2 at `x`, exactly."""

    def test_accuracy(self, x: Array) -> float:
        """Return the share of held-out samples that `x` gets right; nan where none are held out."""


problems: Registry[Any] = Registry("mpiddl.problems", "problem")


def problem(name: str, workers: int, seed: int = 0, **options: Any) -> Problem:
    """Build a registered problem.

    Parameters
    ----------
    name : str
        Its registered name, e.g. "breast_cancer".
    workers : int
        Number n of workers among which it is divided.
    seed : int
        The one seed of the run.
    **options
        What the problem's own docstring names.

    Raises
    ------
    ConfigurationError
        If the name is unknown or an option is out of range.
    """
    make = problems[name]
    try:
        made: Problem = make(workers, seed, **options)
    except TypeError as error:
        if "unexpected keyword argument" not in str(error):
            raise
        known = inspect.signature(make).parameters  # of its own and of what it is built on
        odd = ", ".join(option for option in options if option not in known)
        raise ConfigurationError(
            f"problem {name} has no option {odd or options}: its docstring names them all"
        ) from error
    made.options = options
    return made
