"""Forms of a cost: letters, whole-number functions, and a cost that evaluates exactly."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import Any

import sympy as sp

from theory.symbols import symbol

__all__ = ["Cost", "Evaluated", "al", "b", "be", "ceil_log2", "floor_log2", "ga", "n"]
__all__ += ["smaller", "square_side", "w"]

n, b, w, al, be, ga = (symbol(letter) for letter in ("n", "b", "w", "al", "be", "ga"))


class floor_log2(sp.Function):  # type: ignore[misc]  # named as it prints
    """The largest integer k with 2^k <= n, exact for every integer n >= 1."""

    nargs = 1
    is_integer = True

    @classmethod
    def eval(cls, value: Any) -> Any:
        """Evaluate at an integer; None leaves it symbolic."""
        return sp.Integer(int(value).bit_length() - 1) if value.is_Integer else None


class ceil_log2(sp.Function):  # type: ignore[misc]  # named as it prints
    """The smallest integer k with 2^k >= n, exact for every integer n >= 1."""

    nargs = 1
    is_integer = True

    @classmethod
    def eval(cls, value: Any) -> Any:
        """Evaluate at an integer; None leaves it symbolic."""
        return sp.Integer((int(value) - 1).bit_length()) if value.is_Integer else None


class smaller(sp.Function):  # type: ignore[misc]  # named as it prints
    """The smaller of two whole numbers. Not sympy's Min, which takes b for positive: b may be 0."""

    nargs = 2
    is_integer = True

    @classmethod
    def eval(cls, one: Any, other: Any) -> Any:
        """Evaluate at integers; None leaves it symbolic."""
        return sp.Min(one, other) if one.is_Integer and other.is_Integer else None


class square_side(sp.Function):  # type: ignore[misc]  # named as it prints
    """The largest divisor of n that is at most its root, for every integer n >= 1."""

    nargs = 1
    is_integer = True
    is_positive = True

    @classmethod
    def eval(cls, value: Any) -> Any:
        """Evaluate at an integer; None leaves it symbolic."""
        if not value.is_Integer:
            return None
        return sp.Integer(next(g for g in range(isqrt(int(value)), 0, -1) if not value % g))


@dataclass(frozen=True)
class Evaluated:
    """A cost in numbers: messages and bytes over all ranks, time in seconds."""

    messages: int
    bytes: int
    time: float


@dataclass(frozen=True)
class Cost:
    """What one vector costs, in the letters of this module.

    Parameters
    ----------
    messages, bytes : sympy.Expr
        Totals over all ranks.
    time : sympy.Expr
        Seconds until the last rank is done.
    """

    messages: sp.Expr
    bytes: sp.Expr
    time: sp.Expr

    def at(
        self,
        *,
        n: int,
        b: int,
        w: int = 1,
        al: float = 0.0,
        be: float = 0.0,
        ga: float = 0.0,
    ) -> Evaluated:
        """Evaluate exactly: integers stay integers, seconds are rounded once, at the end.

        Parameters
        ----------
        n : int
            Ranks, at least 1.
        b : int
            Entries of the vector, at least 0.
        w : int
            Bytes per entry, at least 1.
        al, be, ga : float
            Seconds per message, per byte sent, per byte added; at least 0.

        Raises
        ------
        ValueError
            If a number is out of range.
        """
        if n < 1 or b < 0 or w < 1 or min(al, be, ga) < 0:
            raise ValueError(f"no cost at n={n}, b={b}, w={w}, al={al}, be={be}, ga={ga}")
        numbers = {"n": n, "b": b, "w": w, "al": al, "be": be, "ga": ga}

        def value(expression: sp.Expr) -> Any:
            exact = {s: sp.Rational(numbers[s.name]) for s in expression.free_symbols}
            return expression.subs(exact).doit()

        return Evaluated(int(value(self.messages)), int(value(self.bytes)), float(value(self.time)))
