"""What was recorded of runs, and what the stages need of it.

v is the virtual sequence, y_i the points where gradients g_i were taken, m the mean of the exact
gradients at y_i.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theory.said import Messages, messages
from theory.testbed import Floats, Oracle

__all__ = ["TOLERANCE", "Measured", "Trajectory", "measure", "square"]

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
    said : (S, T, n, d) or None
        What all believe of each worker's gradient after its message; None: the gradient itself, or
        there is error feedback.
    delays : int (S, T) or None
        How many steps before step t its gradient was read, y_t = v_{t - delays_t}; None if all
        gradients of a step are taken at its beginning.
    misplaced : int (S,) or None
        In how many views y_t an update is that v_t has not, or the other way round, at most.
    """

    y: Floats
    g: Floats
    v: Floats
    e: Floats | None = None
    said: Floats | None = None
    delays: NDArray[np.int64] | None = None
    misplaced: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class Measured:
    """Measured quantities of S runs.

    Parameters
    ----------
    noise, gradient, mean_gradient, deviation, spread : (S, T)
        |mean g - m|^2, |grad f(v)|^2, |m|^2, |grad f(v) - m|^2, (1/n) sum |y_i - v|^2.
    steepness : (S, T)
        (1/n) sum |g_i|^2.
    drift : (S,)
        (1/n) sum_i |sum_t (g_i - grad f_i(y_i))|^2 / T: small only if the noise has no memory.
    loss, loss_at_x : (S, T + 1), (S, T)
        f(v) - f*, and f - f* at the mean of the y_i.
    distance : (S, T + 1) or None
        |v - x*|^2; None if x* is unknown.
    kept, pushed : (S, T + 1), (S, T), or None
        (1/n) sum |e_i|^2 and (1/n) sum |gam g_i + e_i|^2; None if no memories were recorded.
    messages : Messages or None
        What was lost and said; None if it was not recorded.
    delays, misplaced : int (S, T) and (S,), or None
        As recorded.
    tolerance : float
        Relative, of what is rounding.
    """

    noise: Floats
    gradient: Floats
    mean_gradient: Floats
    deviation: Floats
    spread: Floats
    steepness: Floats
    drift: Floats
    loss: Floats
    loss_at_x: Floats
    distance: Floats | None
    kept: Floats | None
    pushed: Floats | None
    messages: Messages | None
    delays: NDArray[np.int64] | None
    misplaced: NDArray[np.int64] | None
    tolerance: float = TOLERANCE

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

    @property
    def words(self) -> Messages:
        """What was lost and said.

        Raises
        ------
        ValueError
            If it was not recorded.
        """
        if self.messages is None:
            raise ValueError("this theorem needs what the workers said, which was not recorded")
        return self.messages


def measure(
    run: Trajectory, steps: Floats, oracle: Oracle, tolerance: float = TOLERANCE
) -> Measured:
    """Return all that the stages need; what is within rounding of zero is zero.

    Parameters
    ----------
    run : Trajectory
        What was recorded.
    steps : (T,)
        Claimed step sizes.
    oracle, tolerance : Oracle, float
        Exact values and gradients of the problem; relative, what is rounding.
    """
    before, own = run.v[:, :-1], oracle.gradients(run.y)
    slope, m = oracle.gradient(before), own.mean(axis=2)
    drift = square((run.g - own).sum(axis=1)).mean(axis=-1) / run.g.shape[1]
    apart = square(run.y - before[:, :, None]).mean(axis=-1)
    kept = pushed = None
    if run.e is not None:
        kept = square(run.e).mean(axis=-1)
        pushed = square(steps[:, None, None] * run.g + run.e[:, :-1]).mean(axis=-1)
    return Measured(
        noise=_cleaned(square(run.g.mean(axis=2) - m), square(run.g), tolerance),
        gradient=square(slope),
        mean_gradient=square(m),
        deviation=_cleaned(square(slope - m), square(slope), tolerance),
        drift=_cleaned(drift, square(run.g), tolerance),
        spread=_cleaned(apart, square(run.v), tolerance),
        steepness=square(run.g).mean(axis=-1),
        loss=oracle.value(run.v) - oracle.f_star,
        loss_at_x=oracle.value(run.y.mean(axis=2)) - oracle.f_star,
        distance=None if oracle.optimum is None else square(run.v - oracle.optimum),
        kept=kept,
        pushed=pushed,
        messages=None if run.said is None else messages(run.said, run.g, own),
        delays=run.delays,
        misplaced=run.misplaced,
        tolerance=tolerance,
    )


def square(x: Floats) -> Floats:
    """Return |x|^2 over the last axis."""
    norm2: Floats = (x**2).sum(axis=-1)
    return norm2


def _cleaned(small: Floats, large: Floats, tolerance: float) -> Floats:
    """Return zeros if all of `small` is rounding beside the squares `large`."""
    return np.zeros_like(small) if small.max() <= tolerance**2 * large.max() else small
