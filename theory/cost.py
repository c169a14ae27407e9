"""What one vector costs on its way: messages, bytes and time of every exchange, for any n and b.

Model   A message of m bytes takes al + be m; adding m bytes takes ga m. A rank sends one message
        and receives one at a time, both at once (full duplex). A step always sends its message,
        also when its block is empty.
Letters n ranks | b entries of the vector | w bytes per entry | m = b w | al seconds per message |
        be seconds per byte sent | ga seconds per byte added | k = floor(log2 n) | p = 2^k |
        r = n - p, the ranks that fold in: the first 2 r ranks join in pairs before the p ranks
        work, and are told the sum after
Totals  Messages and bytes are sums over all ranks. Four of the five sums move 2 (n - 1) m bytes
        in all, whatever n and b are:
        naive     n - 1 vectors in, n - 1 vectors out
        ring      every step moves every block once: m per step, 2 (n - 1) steps
        halving   2^(i-1) windows partition the vector, p / 2^i pairs share each, and a pair
                  sends its window once: m p / 2^i at step i, so m (p - 1) per phase; the fold
                  adds 2 r m, and p - 1 + r = n - 1
        tree      n - 1 edges, a vector up and a vector down
        Recursive doubling sends more: p whole vectors at each of k steps.
Time    Until the last rank is done: the longest chain of messages and additions.
Buckets A cost is that of one vector; several buckets add.
Source  Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in
        MPICH", 2005; Chan, Heimlich, Purkayastha, van de Geijn, "Collective communication: theory,
        practice, and experience", 2007; block sizes and folds are counted here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from theory.symbols import symbol

__all__ = ["ALLGATHER", "ALLREDUCE", "BARRIER", "Cost", "Evaluated", "ceil_log2", "floor_log2"]
__all__ += ["gossip"]

n, b, w, al, be, ga = (symbol(letter) for letter in ("n", "b", "w", "al", "be", "ga"))
_i = sp.Symbol("i", integer=True, positive=True)


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


def _costs() -> dict[str, Cost]:
    m, k, levels = b * w, floor_log2(n), ceil_log2(n)
    p, r = 2**k, n - 2**k
    fold = sp.Min(1, r) * (2 * (al + be * m) + ga * m)
    block = sp.ceiling(b / n) * w
    half = sp.ceiling(b / 2**_i) * w
    least = 2 * (n - 1) * m
    return {
        "naive": Cost(2 * (n - 1), least, 2 * (n - 1) * (al + be * m) + (n - 1) * ga * m),
        "ring": Cost(
            2 * n * (n - 1), least, 2 * (n - 1) * (al + be * block) + (n - 1) * ga * block
        ),
        "recursive_doubling": Cost(
            k * p + 2 * r, (k * p + 2 * r) * m, k * (al + be * m + ga * m) + fold
        ),
        "halving_doubling": Cost(
            2 * k * p + 2 * r,
            least,
            sp.Sum(2 * al + 2 * be * half + ga * half, (_i, 1, k)) + fold,
        ),
        "tree": Cost(2 * (n - 1), least, 2 * levels * (al + be * m) + levels * ga * m),
    }


ALLREDUCE: dict[str, Cost] = _costs()
"""Sum of n vectors on every rank, by the name of its collective."""

ALLGATHER: dict[str, Cost] = {
    "ring": Cost(n * (n - 1), n * (n - 1) * b * w, (n - 1) * (al + be * b * w))
}
"""Everybody's payload of b w bytes on every rank."""

BARRIER = Cost(n * ceil_log2(n), sp.Integer(0), ceil_log2(n) * al)
"""Dissemination: in round j rank i tells rank i + 2^j; empty messages."""


def gossip(degree: int | sp.Expr) -> Cost:
    """Every rank sends its vector to `degree` neighbours, one after another, in rotation.

    Parameters
    ----------
    degree : int or sympy.Expr
        Neighbours per rank; a rank has at most n - 1 (a ring of two ranks: one).
    """
    neighbours = sp.Min(degree, n - 1)
    return Cost(n * neighbours, n * neighbours * b * w, neighbours * (al + be * b * w))
