"""What a compressor makes of a vector, with expectations over all outcomes, and the worst vectors.

The compressors are written for rows x (m, b) of small b: `said` returns E C(x) (m, b) and
E|C(x) - x|^2 (m,), both exact.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from theory.compressed import compress
from theory.compressors import CONSTANTS, Constant
from theory.quantized import QUANTIZED
from theory.testbed import Floats

__all__ = ["SAID", "Said", "adversaries", "allowed", "all_objections", "objections", "shares"]

Said = tuple[Floats, Floats]
ROUNDING = 1e-12


def _one(x: Floats, c: Floats) -> Said:
    """One outcome only."""
    loss: Floats = ((c - x) ** 2).sum(axis=-1)
    return c, loss


def _identity(x: Floats, parameter: int) -> Said:
    return _one(x, x.copy())


def _topk(x: Floats, k: int) -> Said:
    return _one(x, compress("topk", k, x))


def _ternary(x: Floats, k: int) -> Said:
    """Of the k largest the signs, and the mean magnitude; a zero among them has a sign too."""
    largest = np.argsort(-np.abs(x), axis=-1, kind="stable")[..., :k]
    values, said = np.take_along_axis(x, largest, axis=-1), np.zeros_like(x)
    mean = np.abs(values).mean(axis=-1, keepdims=True)
    np.put_along_axis(said, largest, np.where(values < 0, -mean, mean), axis=-1)
    return _one(x, said)


def _sign(x: Floats, parameter: int) -> Said:
    return _one(x, compress("sign", 0, x))


def _masked(x: Floats, k: int, scale: float) -> Said:
    """Every set of k entries is equally likely."""
    b = x.shape[-1]
    masks = np.zeros((0, b))
    for kept in itertools.combinations(range(b), k):
        masks = np.vstack((masks, np.isin(np.arange(b), kept)))
    outcomes = scale * masks[:, None] * x
    return outcomes.mean(axis=0), ((outcomes - x) ** 2).sum(axis=-1).mean(axis=0)


def _randk(x: Floats, k: int) -> Said:
    return _masked(x, k, x.shape[-1] / k)


def _randk_plain(x: Floats, k: int) -> Said:
    return _masked(x, k, 1.0)


def _qsgd(x: Floats, s: int) -> Said:
    """Entries are rounded on their own: up with probability r - floor(r), r = s |x_j| / |x|."""
    norm = np.sqrt((x**2).sum(axis=-1, keepdims=True))
    r = np.divide(s * np.abs(x), norm, out=np.zeros_like(x), where=norm > 0)
    low, up = np.floor(r), r - np.floor(r)
    unit = norm / s * np.where(x < 0, -1.0, 1.0)
    mean = unit * ((1 - up) * low + up * (low + 1))
    loss = (1 - up) * (unit * low - x) ** 2 + up * (unit * (low + 1) - x) ** 2
    return mean, loss.sum(axis=-1)


def _fp16(x: Floats, parameter: int) -> Said:
    """Halves, after a power of two that brings the largest into [2^14, 2^15)."""
    exponent = np.frexp(np.abs(x).max(axis=-1, keepdims=True))[1]
    halves = np.ldexp(x, 15 - exponent).astype(np.float16).astype(np.float64)
    return _one(x, np.ldexp(halves, exponent - 15))


def _shrunk(x: Floats, k: int) -> Said:
    """Rand-k times 1/(1 + omega): its second moment gives the loss."""
    mean, loss = _randk(x, k)
    omega, two = x.shape[-1] / k - 1, (x**2).sum(axis=-1)
    second = loss + two
    return mean / (1 + omega), second / (1 + omega) ** 2 - 2 * two / (1 + omega) + two


SAID: dict[str, Callable[[Floats, int], Said]] = {
    "identity": _identity,
    "topk": _topk,
    "sign": _sign,
    "randk": _randk,
    "randk, not scaled": _randk_plain,
    "qsgd, s = 1": _qsgd,
    "qsgd, s > 1": _qsgd,
    "fp16": _fp16,
    **QUANTIZED,
    "ternary": _ternary,
    "Q/(1 + omega)": _shrunk,
}
"""By the names of `theory.compressors.CONSTANTS`; the parameter is k or s, if there is one."""


def adversaries(b: int, s: int, rng: np.random.Generator) -> Floats:
    """Return rows (m, b) that are bad for one compressor or another, and random ones.

    Equal magnitudes, one entry alone, one and many small ones, magnitudes in between two levels of
    s, just above powers of two, over many decades.
    """
    signs = rng.choice([-1.0, 1.0], size=(6, b))
    alone = np.eye(b)[0]
    halfway = (np.arange(b) % s + 0.5) / s
    above = (1 + 2.0**-11) * 2.0 ** -rng.integers(0, 5, size=b)
    special = [
        np.ones(b),
        alone,
        alone + (1 - alone) / (1 + np.sqrt(b)),
        halfway,
        above,
        np.geomspace(1, 1e-12, b),
    ]
    random = rng.standard_normal((40, b)) * np.exp(3 * rng.standard_normal((40, b)) * rng.random())
    plain = np.stack([np.full(b, 4 / 3), alone, alone - np.eye(b)[1]])  # signs matter here
    rows: Floats = np.concatenate((signs * np.stack(special), random, plain))
    return rows


def shares(name: str, x: Floats, parameter: int) -> Floats:
    """Return E|C(x) - x|^2 / |x|^2 of every row, (m,)."""
    share: Floats = SAID[name](x, parameter)[1] / (x**2).sum(axis=-1)
    return share


def allowed(constant: Constant, b: int, parameter: int) -> float:
    """Return what `shares` may be at most: omega or 1 - delta."""
    value = constant.at(b=b, k=parameter, s=parameter, omega=b / parameter - 1)
    return value if constant.unbiased else 1 - value


# Rows of `adversaries` on which a constant is attained.
_WHERE = {
    "every": slice(None),
    "all": slice(0, 1),
    "one": slice(1, 2),
    "two": slice(2, 3),
    "4/3": slice(-3, -2),
    "positive": slice(-2, -1),
    "plus": slice(-1, None),
    "": slice(0, 0),
}
_PARAMETERS = {"qsgd, s = 1": (1,), "qsgd, s > 1": (2, 4), "dithering": (1, 2, 4), "int8": (2, 4)}


def objections(name: str, constant: Constant) -> list[str]:
    """Return what is wrong with a constant: not proved, violated, or not attained as it says."""
    found = [] if constant.proof() else ["not proved"]
    for b, parameter in ((b, p) for b in (2, 5, 8) for p in _PARAMETERS.get(name, (1, 2))):
        x = adversaries(b, parameter, np.random.default_rng([b, parameter]))
        lost, most = shares(name, x, parameter), allowed(constant, b, parameter)
        said = f"b = {b}, k or s = {parameter}"
        if not np.all(lost <= most + ROUNDING):
            found.append(f"violated for {said}")
        if not np.allclose(lost[_WHERE[constant.attained.partition(" ")[0]]], most, atol=ROUNDING):
            found.append(f"not attained for {said}")
        if constant.unbiased and not np.allclose(SAID[name](x, parameter)[0], x, atol=ROUNDING):
            found.append(f"biased for {said}")
    return found


def all_objections() -> list[str]:
    """Return all objections to all constants, with the name of the compressor."""
    return [f"{name}: {why}" for name, c in CONSTANTS.items() for why in objections(name, c)]
