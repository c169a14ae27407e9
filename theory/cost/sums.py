"""All-reduces: the sum of n vectors on every rank.

Letters k = floor(log2 n) | p = 2^k | r = n - p, the ranks that fold in: the first 2 r ranks join in
        pairs before the p ranks work, and are told the sum after | g ranks of a row or node |
        N = n / g | P pieces of either half
Totals  All but one move 2 (n - 1) m bytes in all, whatever n and b are:
        naive     n - 1 vectors in, n - 1 vectors out
        ring      every step moves every block once: m per step, 2 (n - 1) steps
        halving   2^(i-1) windows partition the vector, p / 2^i pairs share each, and a pair
                  sends its window once: m p / 2^i at step i, so m (p - 1) per phase; the fold
                  adds 2 r m, and p - 1 + r = n - 1
        tree      n - 1 edges, a vector up and a vector down
        torus     N rows of g: 2 N (g - 1) m; the columns share the vector: 2 (N - 1) m
        nodes     the same two sums
        2 trees   n - 1 edges each, half a vector up and half a vector down
        Recursive doubling sends more: p whole vectors at each of k steps.
Time    The longest chain of messages and additions. Two levels: the longest block of a row is last
        in it, starts in its column when all of the column start, and is last there; so the
        times of the levels add.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from theory.cost.double_tree import double_tree_time, pieces
from theory.cost.forms import Cost, al, b, be, ceil_log2, floor_log2, ga, n, square_side, w

__all__ = ["ALLREDUCE", "allreduce"]

PIECE = 2**18  # bytes of a piece in a double tree, at most
_i = sp.Symbol("i", integer=True, positive=True)
m = b * w
LEAST = 2 * (n - 1) * m


def _folding() -> dict[str, Cost]:
    k = floor_log2(n)
    p, r = 2**k, n - 2**k
    fold = sp.Min(1, r) * (2 * (al + be * m) + ga * m)
    half = sp.ceiling(b / 2**_i) * w
    steps = sp.Sum(2 * al + 2 * be * half + ga * half, (_i, 1, k))
    doubled = k * p + 2 * r
    return {
        "recursive_doubling": Cost(doubled, doubled * m, k * (al + be * m + ga * m) + fold),
        "halving_doubling": Cost(2 * k * p + 2 * r, LEAST, steps + fold),
    }


def _ring(ranks: Any, entries: Any) -> sp.Expr:
    """Seconds of a ring all-reduce: its halves' hops and the additions of the first."""
    block = sp.ceiling(entries / ranks) * w
    return (ranks - 1) * (2 * (al + be * block) + ga * block)


def _two_levels(name: str, g: Any) -> Cost:
    """Rings in groups of `g` ranks, and sums of a slice between groups."""
    groups, slices = n / g, sp.ceiling(b / g)
    if name == "torus":
        return Cost(2 * n * (g - 1 + groups - 1), LEAST, _ring(g, b) + _ring(groups, slices))
    between = _folding()["halving_doubling"]
    messages = 2 * n * (g - 1) + g * between.messages.subs(n, groups)
    level = between.time.subs({n: groups, b: slices}, simultaneous=True)
    return Cost(messages, LEAST, _ring(g, b) + level)


def _costs() -> dict[str, Cost]:
    levels = ceil_log2(n)
    return {
        "naive": Cost(2 * (n - 1), LEAST, (n - 1) * (2 * (al + be * m) + ga * m)),
        "ring": Cost(2 * n * (n - 1), LEAST, _ring(n, b)),
        "tree": Cost(2 * (n - 1), LEAST, levels * (2 * (al + be * m) + ga * m)),
        **_folding(),
        **{name: _two_levels(name, square_side(n)) for name in ("torus", "hierarchical")},
        "double_tree": double_tree(PIECE),
    }


def double_tree(piece: int) -> Cost:
    """Two trees with pieces of at most `piece` bytes; the time is a recurrence."""
    count = pieces(b, w, piece)
    return Cost(4 * (n - 1) * count, LEAST, double_tree_time(n, b, w, count, al, be, ga))


ALLREDUCE: dict[str, Cost] = _costs()
"""Sum of n vectors on every rank, by the name of its collective; groups as square as possible."""


def allreduce(text: str) -> Cost | None:
    """Return the cost of NAME, or of NAME:G with groups of G ranks; None if nobody can count it."""
    name, colon, group = text.partition(":")
    if colon and name in ("torus", "hierarchical"):
        return _two_levels(name, sp.Integer(int(group)))
    return ALLREDUCE.get(name)
