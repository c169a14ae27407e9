"""How many bytes a vector becomes on the wire, by compressor.

Letters b entries of the vector | k entries kept | w bytes per entry | s levels
Each function takes numbers or sympy expressions and returns a sympy expression; at integers it is
an integer. Payloads go into `theory.cost` as b = bytes, w = 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

__all__ = ["PAYLOAD", "fp16", "identity", "qsgd", "randk", "sign", "topk"]

INDEX_BYTES = 4  # positions travel as int32
HALF_BYTES = 2  # a float16, and an int16 for the exponent of all


def identity(b: Any, w: Any) -> sp.Expr:
    """All b entries."""
    return sp.sympify(b) * w


def topk(k: Any, w: Any) -> sp.Expr:
    """The k largest entries, each with its position."""
    return sp.sympify(k) * (INDEX_BYTES + w)


def sign(b: Any, w: Any) -> sp.Expr:
    """One bit per entry, packed, and one scale."""
    return sp.ceiling(sp.sympify(b) / 8) + w


def randk(k: Any, w: Any) -> sp.Expr:
    """The k random entries; both ends draw their positions."""
    return sp.sympify(k) * w


def fp16(b: Any, w: Any) -> sp.Expr:
    """Half a float32 per entry, and one exponent; `w` does not matter."""
    return HALF_BYTES * (sp.sympify(b) + 1)


def qsgd(b: Any, w: Any, s: Any) -> sp.Expr:
    """A sign and a level of 0 .. s per entry, packed, and one norm."""
    return w + sp.ceiling(sp.sympify(b) * (1 + sp.ceiling(sp.log(sp.sympify(s) + 1, 2))) / 8)


PAYLOAD: dict[str, Callable[..., sp.Expr]] = {
    "identity": identity,
    "topk": topk,
    "randk": randk,
    "sign": sign,
    "fp16": fp16,
    "qsgd": qsgd,
}
