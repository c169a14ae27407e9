"""What workers said, beside what they had to say: c_i after each message, g_i before it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theory.testbed import Floats

__all__ = ["Messages", "messages"]


@dataclass(frozen=True)
class Messages:
    """Measured quantities of the messages of S runs, with q_i = c_i - g_i what was lost.

    Parameters
    ----------
    lost : (S, T)
        |mean q|^2.
    size, mean_size : (S, T)
        (1/n) sum |g_i|^2 and |mean g|^2.
    bias : (S,)
        (1/n) sum_i (|sum_t q_i|^2 + |sum_t sign(g_i) q_i|^2) / (2 T), signs entry by entry: small
        only if q has zero mean whatever is to be said.
    wrong : (S, T)
        (1/n) sum |q_i|^2.
    news : (S, T)
        (1/n) sum |g_i - c_i|^2, c_i of the message before, 0 before the first.
    heard, heard_wrong : (S, T)
        |mean c|^2, by which x moves, and |mean c - m|^2.
    change : (S, T)
        (1/n) sum |grad f_i(x_{t+1}) - grad f_i(x_t)|^2; 0 at the last t.
    """

    lost: Floats
    size: Floats
    mean_size: Floats
    bias: Floats
    wrong: Floats
    news: Floats
    heard: Floats
    heard_wrong: Floats
    change: Floats


def messages(said: Floats, g: Floats, own: Floats) -> Messages:
    """Return what is measured of messages `said`, gradients `g` and exact gradients `own`.

    All are (S, T, n, d).
    """
    loss, mean = said - g, said.mean(axis=2)
    before = np.concatenate((np.zeros_like(said[:, :1]), said[:, :-1]), axis=1)
    aligned = (np.sign(g) * loss).sum(axis=1)
    return Messages(
        lost=_square(loss.mean(axis=2)),
        size=_square(g).mean(axis=-1),
        mean_size=_square(g.mean(axis=2)),
        bias=(_square(loss.sum(axis=1)) + _square(aligned)).mean(axis=-1) / (2 * g.shape[1]),
        wrong=_square(loss).mean(axis=-1),
        news=_square(g - before).mean(axis=-1),
        heard=_square(mean),
        heard_wrong=_square(mean - own.mean(axis=2)),
        change=_square(np.diff(own, axis=1, append=own[:, -1:])).mean(axis=-1),
    )


def _square(x: Floats) -> Floats:
    norm2: Floats = (x**2).sum(axis=-1)
    return norm2
