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


QUANTIZED: dict[str, Callable[[Floats, int], tuple[Floats, Floats]]] = {
    "terngrad": _ternary,
}
"""By the names of `theory.quantizers.QUANTIZERS`; the parameter is a number of levels."""
