"""What messages lost and said, measured: for the stages of compressors without error feedback.

c_i is what all believe of worker i's gradient g_i after its message, q_i = c_i - g_i what it lost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theory.testbed import Floats

__all__ = ["Messages", "messages"]


@dataclass(frozen=True)
class Messages:
    """Squares of S runs of T steps.

    Parameters
    ----------
    lost, heard, heard_wrong : (S, T)
        |mean q|^2, |mean c|^2, |mean c - m|^2, m the mean of the exact gradients.
    size, mean_size : (S, T)
        (1/n) sum |g_i|^2 and |mean g|^2.
    wrong, news : (S, T)
        (1/n) sum |c_i - g_i|^2, and the same with the c_i of the message before (0 at first).
    change : (S, T)
        (1/n) sum |grad f_i(y_i) - grad f_i(y_i')|^2 from each step to the next, 0 at the last.
    bias : (S,)
        (1/n) sum_i (|sum_t q_i|^2 + |sum_t sign(g_i) q_i|^2) / (2 T): small only if what is lost
        is right on average.
    """

    lost: Floats
    heard: Floats
    heard_wrong: Floats
    size: Floats
    mean_size: Floats
    wrong: Floats
    news: Floats
    change: Floats
    bias: Floats


def messages(said: Floats, g: Floats, own: Floats) -> Messages:
    """Measure what was said of gradients g, whose exact values are `own`; all (S, T, n, d)."""
    q, m = said - g, own.mean(axis=2)
    before = np.concatenate((np.zeros_like(said[:, :1]), said[:, :-1]), axis=1)
    moved = np.zeros_like(own)
    moved[:, :-1] = own[:, 1:] - own[:, :-1]
    mean, steps = said.mean(axis=2), g.shape[1]
    summed = _square(q.sum(axis=1)) + _square((np.sign(g) * q).sum(axis=1))
    return Messages(
        lost=_square(q.mean(axis=2)),
        heard=_square(mean),
        heard_wrong=_square(mean - m),
        size=_square(g).mean(axis=-1),
        mean_size=_square(g.mean(axis=2)),
        wrong=_square(q).mean(axis=-1),
        news=_square(g - before).mean(axis=-1),
        change=_square(moved).mean(axis=-1),
        bias=summed.mean(axis=-1) / (2 * steps),
    )


def _square(x: Floats) -> Floats:
    norm2: Floats = (x**2).sum(axis=-1)
    return norm2
