"""Compressors in NumPy, and the recursions of what is said without error feedback.

direct      c_i = C(g_i)                                          x <- x - gam mean c_i
difference  c_i <- c_i + C(g_i - c_i), from c_i = 0               x <- x - gam mean c_i      (EF21)

Error feedback itself is in `theory.recursions`. `second_moments` are the exact moments of `direct`
on quadratics with random-k: an entry is said with probability k/d, d/k times too large, so with
omega = d/k - 1, coordinate by coordinate,

    E x'^2 = (1 - gam a)^2 E x^2 + gam^2 sigma2/(n d) + gam^2 omega V,
    V = (1/n) (a^2 E x^2 + (1/n) sum_i s_i^2 + sigma2/d)   if every worker draws its own entries,
    V = a^2 E x^2 + sigma2/(n d)                           if all draw the same; sum_i s_i = 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theory.measured import Trajectory
from theory.testbed import Base, Floats, Quadratic

if TYPE_CHECKING:
    from theory.trials import Trial

__all__ = ["LOUD", "compress", "lottery", "qualities", "run", "second_moments"]

LOUD = 2.5  # how much too large the broken compressor `loud` speaks


def qualities(name: str, k: int, d: int) -> dict[str, float]:
    """Return what is promised of a compressor for vectors of d entries: delta, omega or both."""
    if name == "identity":
        return {"delta": 1.0, "omega": 0.0}
    from theory.compressors import CONSTANTS  # with sympy, which runs do not need

    levels = f"qsgd, s {'=' if k == 1 else '>'} 1"
    constant = CONSTANTS[levels if name == "qsgd" else name]
    return {"omega" if constant.unbiased else "delta": constant.at(b=d, k=k, s=k)}


def compress(name: str, k: int, p: Floats, u: Floats | None = None) -> Floats:
    """Return C(p) of every row p (..., d).

    Parameters
    ----------
    name : str
        topk; loud: 2.5 times topk; sign: scaled by the mean magnitude; randk: scaled by d/k;
        qsgd with k levels.
    p, u : (..., d)
        What is to be said, and uniform draws for randk and qsgd.

    Raises
    ------
    ValueError
        If the compressor is unknown.
    """
    if name == "sign":
        scaled: Floats = np.abs(p).mean(axis=-1, keepdims=True) * np.where(p < 0, -1.0, 1.0)
        return scaled
    if name == "qsgd" and u is not None:
        norm = np.linalg.norm(p, axis=-1, keepdims=True)
        ratio = np.divide(k * np.abs(p), norm, out=np.zeros_like(p), where=norm > 0)
        level = np.floor(ratio) + (u < ratio - np.floor(ratio))
        levels: Floats = norm * np.sign(p) * level / k
        return levels
    if name == "randk" and u is not None:
        masked: Floats = p.shape[-1] / k * _largest(u, k, p)
        return masked
    if name not in ("topk", "loud"):
        raise ValueError(f"no compressor {name!r}")
    return (LOUD if name == "loud" else 1.0) * _largest(np.abs(p), k, p)


def _largest(by: Floats, k: int, p: Floats) -> Floats:
    """Return p with zeros except where `by` is among the k largest of its row."""
    kept = np.argpartition(by, -k, axis=-1)[..., -k:]
    said = np.zeros_like(p)
    np.put_along_axis(said, kept, np.take_along_axis(p, kept, axis=-1), axis=-1)
    return said


def lottery(trial: Trial, d: int) -> Floats:
    """Return the uniform draws of all messages, (S, T, n, d); one for all workers if shared."""
    speakers = 1 if trial.masks == "shared" else trial.n
    shape = (trial.T, speakers, d)
    rows = [np.random.default_rng([seed, 2]).random(shape) for seed in range(trial.seeds)]
    return np.broadcast_to(np.stack(rows), (trial.seeds, trial.T, trial.n, d))


def run(trial: Trial, oracle: Base, xi: Floats) -> Trajectory:
    """Return what all seeds do; xi (S, T, n, d) is the noise."""
    steps, u = trial.steps(), lottery(trial, oracle.d)
    y, g, said = np.empty(xi.shape), np.empty(xi.shape), np.empty(xi.shape)
    v = np.empty((trial.seeds, trial.T + 1, oracle.d))
    v[:, 0] = oracle.x0
    believed = np.zeros(xi[:, 0].shape)
    for t in range(trial.T):
        y[:, t] = v[:, t, None]
        g[:, t] = oracle.stochastic(y[:, t], xi[:, t])
        news = compress(trial.compressor, trial.k, g[:, t] - believed, u[:, t])
        said[:, t] = believed + news
        if trial.refers:
            believed = said[:, t]
        v[:, t + 1] = v[:, t] - steps[t] * said[:, t].mean(axis=1)
    return Trajectory(y, g, v, said=said)


def second_moments(trial: Trial, oracle: Quadratic) -> Floats:
    """Return E x_t^2 by coordinate, (T + 1, d), of random-k without memory."""
    n, d, a = trial.n, oracle.d, oracle.a
    omega, steps = d / trial.k - 1, trial.steps()
    noise, shared = oracle.sigma2 / d, trial.masks == "shared"
    squares = np.empty((trial.T + 1, d))
    squares[0] = oracle.x0**2
    apart = 0.0 if shared else (oracle.s**2).mean(axis=0) / n
    for t, gam in enumerate(steps):
        slope = a**2 * squares[t]
        lost = omega * ((slope if shared else slope / n) + apart + noise / n)
        squares[t + 1] = (1 - gam * a) ** 2 * squares[t] + gam**2 * (noise / n + lost)
    return squares
