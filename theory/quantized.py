"""What words that round every entry make of rows x (m, b): E C(x) and E|C(x) - x|^2, both exact."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from theory.testbed import Floats

__all__ = ["QUANTIZED"]


def _drawn(x: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """|x| becomes `high` with the probability that makes the mean right, else `low`."""
    size, gap = np.abs(x), high - low
    up = np.divide(size - low, gap, out=np.zeros_like(x), where=gap > 0)
    mean = np.sign(x) * (low + up * gap)
    loss: Floats = (up * (high - size) ** 2 + (1 - up) * (size - low) ** 2).sum(axis=-1)
    return mean, loss


def _ternary(x: Floats, parameter: int) -> tuple[Floats, Floats]:
    """Nothing, or the largest magnitude."""
    return _drawn(x, np.zeros_like(x), np.abs(x).max(axis=-1, keepdims=True) + np.zeros_like(x))


def _natural(x: Floats, parameter: int) -> tuple[Floats, Floats]:
    """The power of two below or above."""
    low = np.where(x == 0, 0.0, np.ldexp(0.5, np.frexp(x)[1]))
    return _drawn(x, low, 2 * low)


def _two_means(x: Floats, parameter: int) -> tuple[Floats, Floats]:
    """The mean of each side of zero."""
    said = np.zeros_like(x)
    for side in (x < 0, x >= 0):
        count = np.maximum(side.sum(axis=-1, keepdims=True), 1)
        said += side * (side * x).sum(axis=-1, keepdims=True) / count
    return said, ((said - x) ** 2).sum(axis=-1)


def _upper_half(x: Floats, parameter: int) -> tuple[Floats, Floats]:
    """Eight bits of each entry, to the nearest."""
    share, exponent = np.frexp(x)
    said: Floats = np.ldexp(np.rint(share * 2**8), exponent - 8)
    return said, ((said - x) ** 2).sum(axis=-1)


def _dithered(x: Floats, s: int) -> tuple[Floats, Floats]:
    """The power of two of the norm below or above, 2^(1-s) at least; below that 0."""
    norm = np.sqrt((x**2).sum(axis=-1, keepdims=True))
    ratio, least = np.minimum(np.abs(x) / norm, 1), 2.0 ** (1 - s)
    low = np.where(ratio < least, 0.0, np.ldexp(0.5, np.frexp(ratio)[1]))
    high = np.where(ratio < least, least, 2 * low)
    return _drawn(x, norm * low, norm * high)


def _steps(x: Floats, block: int) -> tuple[Floats, Floats]:
    """One of 256 numbers between the least and the greatest entry of each block."""
    said = x.copy()
    for start in range(0, x.shape[-1], block):
        part = x[:, start : start + block]
        low = part.min(axis=-1, keepdims=True)
        step = (part.max(axis=-1, keepdims=True) - low) / 255
        count = np.divide(part - low, step, out=np.zeros_like(part), where=step > 0)
        said[:, start : start + block] = low + step * np.rint(count)
    return said, ((said - x) ** 2).sum(axis=-1)


QUANTIZED: dict[str, Callable[[Floats, int], tuple[Floats, Floats]]] = {
    "terngrad": _ternary,
    "natural": _natural,
    "onebit": _two_means,
    "bf16": _upper_half,
    "dithering": _dithered,
    "int8": _steps,
}
"""By the names of `theory.quantizers.QUANTIZERS`; the parameter is a number of levels."""
