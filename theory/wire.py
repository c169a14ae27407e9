"""How many bytes a vector becomes on the wire, by compressor.

Letters b entries of the vector | k entries kept | w bytes per entry
Each function takes numbers or sympy expressions and returns a sympy expression; at integers it is
an integer. Payloads go into `theory.cost` as b = bytes, w = 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

__all__ = ["PAYLOAD", "identity", "sign", "topk"]

INDEX_BYTES = 4  # positions travel as int32


def identity(b: Any, w: Any) -> sp.Expr:
    """All b entries."""
    return sp.sympify(b) * w


def topk(k: Any, w: Any) -> sp.Expr:
    """The k largest entries, each with its position."""
    return sp.sympify(k) * (INDEX_BYTES + w)


def sign(b: Any, w: Any) -> sp.Expr:
    """One bit per entry, packed, and one scale."""
    return sp.ceiling(sp.sympify(b) / 8) + w


PAYLOAD: dict[str, Callable[[Any, Any], sp.Expr]] = {
    "identity": identity,
    "topk": topk,
    "sign": sign,
}
