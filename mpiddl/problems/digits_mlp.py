"""Real images by a small network, 64 - 32 - 10 with tanh: not convex, learnt layer by layer.

The rows learnt from and held out are those of digits.py; d = 2410 in four layers. Constants are
unknown, but for zeta2 where all workers see all rows.
"""

from __future__ import annotations

from typing import Any

from mpiddl.problems import problems
from mpiddl.problems.base import number, whole
from mpiddl.problems.digits import CLASSES, digits_rows
from mpiddl.problems.network import Network

__all__ = ["digits_mlp"]


@problems.register("digits_mlp")
def digits_mlp(
    workers: int, seed: int, *, hidden: int = 32, lam: float = 0.0, **options: Any
) -> Network:
    """A small network on the images of digits, in four layers: not convex, tested on 360 others.

    `hidden` units, a penalty (lam/2) |x|^2; `options` as in `Network`, 16 rows per gradient by
    default.
    """
    rows, held_out = digits_rows()
    widths = (rows.shape[1] - 1, whole("hidden", hidden, 1), CLASSES)
    lam = number("lam", lam)
    return Network("digits_mlp", workers, seed, rows, held_out, widths, lam, **options)
