"""How many bytes a vector becomes on the wire, by compressor; and what neighbours say with it.

Letters b entries of the vector | w bytes per entry | others as in the compressor's text
Each function takes numbers or sympy expressions and returns a sympy expression; at integers it is
an integer. Payloads go into `theory.cost` as b = bytes, w = 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import sympy as sp

__all__ = [
    "MESSAGE",
    "PAYLOAD",
    "Words",
    "bf16",
    "dithering",
    "fp16",
    "identity",
    "int8",
    "kept",
    "model",
    "model_and_heading",
    "model_and_weight",
    "natural",
    "onebit",
    "qsgd",
    "randk",
    "sign",
    "ternary",
    "terngrad",
    "topk",
]

Words: TypeAlias = Callable[[int], int]
"""Bytes in which a compressor says so many entries."""

INDEX_BYTES = 4  # positions travel as int32
TRITS = 5  # 3^5 is less than 2^8
HALF_BYTES = 2  # a float16, and an int16 for the exponent of all


def kept(b: Any, ratio: Any) -> sp.Expr:
    """How many of b entries a share of them is: rounded up, one at least, if there is one."""
    share = sp.Rational(repr(ratio)) if isinstance(ratio, float) else sp.sympify(ratio)
    return sp.Min(b, sp.Max(1, sp.ceiling(share * b)))


def identity(b: Any, w: Any) -> sp.Expr:
    """All b entries."""
    return sp.sympify(b) * w


def topk(b: Any, w: Any, ratio: Any) -> sp.Expr:
    """The largest entries, each with its position."""
    return kept(b, ratio) * (INDEX_BYTES + w)


def ternary(b: Any, w: Any, ratio: Any) -> sp.Expr:
    """Positions of the largest entries, their signs, packed, and one magnitude."""
    k = kept(b, ratio)
    return k * INDEX_BYTES + sp.ceiling(k / 8) + w


def sign(b: Any, w: Any) -> sp.Expr:
    """One bit per entry, packed, and one scale."""
    return sp.ceiling(sp.sympify(b) / 8) + w


def randk(b: Any, w: Any, ratio: Any, mask: str = "private") -> sp.Expr:
    """The random entries; both ends draw their positions, each its own or all the same."""
    return kept(b, ratio) * w


def fp16(b: Any, w: Any) -> sp.Expr:
    """Half a float32 per entry, and one exponent; `w` does not matter."""
    return HALF_BYTES * (sp.sympify(b) + 1)


def qsgd(b: Any, w: Any, levels: Any) -> sp.Expr:
    """A sign and a level of 0 .. s per entry, packed, and one norm."""
    return w + sp.ceiling(sp.sympify(b) * (1 + sp.ceiling(sp.log(sp.sympify(levels) + 1, 2))) / 8)


def terngrad(b: Any, w: Any) -> sp.Expr:
    """A ternary digit per entry, five to a byte, and one scale."""
    return w + sp.ceiling(sp.sympify(b) / TRITS)


def natural(b: Any, w: Any) -> sp.Expr:
    """A sign and the exponent of its type per entry, packed: 9 bits of float32, 12 of float64."""
    return sp.ceiling(sp.sympify(b) * sp.Piecewise((9, sp.Eq(w, 4)), (12, True)) / 8)


def onebit(b: Any, w: Any) -> sp.Expr:
    """One bit per entry, packed, and two means."""
    return sp.ceiling(sp.sympify(b) / 8) + 2 * w


def bf16(b: Any, w: Any) -> sp.Expr:
    """Half a float32 per entry; of float64 also one exponent."""
    return HALF_BYTES * (sp.sympify(b) + sp.Piecewise((0, sp.Eq(w, 4)), (1, True)))


def dithering(b: Any, w: Any, levels: Any) -> sp.Expr:
    """As many bits as qsgd, whatever the levels are."""
    return qsgd(b, w, levels)


def int8(b: Any, w: Any, block: Any) -> sp.Expr:
    """A byte per entry, and two ends per block."""
    return sp.sympify(b) + 2 * w * sp.ceiling(sp.sympify(b) / block)


PAYLOAD: dict[str, Callable[..., sp.Expr]] = {
    "identity": identity,
    "topk": topk,
    "randk": randk,
    "sign": sign,
    "fp16": fp16,
    "qsgd": qsgd,
    "terngrad": terngrad,
    "natural": natural,
    "onebit": onebit,
    "bf16": bf16,
    "dithering": dithering,
    "int8": int8,
    "ternary": ternary,
}
"""Bytes of b entries of w bytes, by compressor; its numbers go by their names in its text."""


def model(words: Words, b: int, w: int) -> int:
    """The model, in words."""
    return words(b)


def model_and_heading(words: Words, b: int, w: int) -> int:
    """Both as one vector, so that a scale or an exponent is said once."""
    return words(2 * b)


def model_and_weight(words: Words, b: int, w: int) -> int:
    """The model, in words; its weight as it is, whatever the words."""
    return words(b) + w


MESSAGE: dict[str, Callable[[Words, int, int], int]] = {
    "d2": model,
    "gossip": model,
    "pairwise": model,
    "push_sum": model_and_weight,
    "tracking": model_and_heading,
}
"""Bytes of what neighbours say to each other in a clock, by architecture; late or in time."""
