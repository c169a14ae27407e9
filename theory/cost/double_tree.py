"""The time of a double binary tree: a recurrence over its steps, as no closed form is exact.

Trees   In-order numbers 1..n; the root of a range is the number in it that the highest power of
        two divides, the ranges below and above it are its subtrees. Tree 0 gives rank i the
        number i + 1, tree 1 the number after that (n is followed by 1).
Steps   An edge is used in even or in odd steps, once every two steps for one piece after another.
        It begins when the edges before it (up: those below it; down: the one above it) have
        begun. The edges by which a rank hangs in the two trees differ in colour, so do the two
        below it; the first edge of a chain of such pairs, in the order of (tree, rank), is even.
Time    ready[i] is when rank i has ended the steps so far. In a step it sends and receives at most
        one piece; a transfer starts when both ends are ready, the step of a rank ends with the
        last of its two, and a piece that climbed is added after that.
Source  Sanders, Speck & Traff, "Two-tree algorithms for full bandwidth broadcast, reduction and
        scan", 2009.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import Any, NamedTuple

import sympy as sp

__all__ = ["double_tree_time", "pieces"]

Edge = tuple[int, int]  # tree, rank that hangs


class Plan(NamedTuple):
    """Both trees over n ranks: who is above, and the first steps of every edge up and down."""

    above: dict[Edge, int]
    up: dict[Edge, int]
    down: dict[Edge, int]


class pieces(sp.Function):  # type: ignore[misc]  # named as it prints
    """P of (b, w, piece): parts of at most `piece` bytes that the longer half is cut into, or 1."""

    nargs = 3
    is_integer = True

    @classmethod
    def eval(cls, b: Any, w: Any, piece: Any) -> Any:
        """Evaluate at integers; None leaves it symbolic."""
        if not (b.is_Integer and w.is_Integer and piece.is_Integer):
            return None
        return sp.Max(1, sp.ceiling(sp.ceiling(b / 2) * w / piece))


class double_tree_time(sp.Function):  # type: ignore[misc]  # named as it prints
    """Seconds of a double tree, of (n, b, w, P, al, be, ga); symbolic until all are numbers."""

    nargs = 7

    @classmethod
    def eval(cls, *args: Any) -> Any:
        """Evaluate exactly at rational numbers; None leaves it symbolic."""
        if not all(each.is_Rational for each in args):
            return None
        n, b, w, count = (int(each) for each in args[:4])
        al, be, ga = (Fraction(int(each.p), int(each.q)) for each in args[4:])
        halves = _cut(b, 2)
        sizes = [[w * size for size in _cut(half, count)] for half in halves]
        plan, ready = _plan(n), [Fraction(0)] * n
        for first, down in ((plan.up, False), (plan.down, True)):
            steps = defaultdict(list)
            for (tree, child), step in first.items():
                ends = (child, plan.above[tree, child])
                for index, size in enumerate(sizes[tree]):
                    steps[step + 2 * index].append((*(ends[::-1] if down else ends), size))
            for step in sorted(steps):
                ready = _after(ready, steps[step], al, be, Fraction(0) if down else ga)
        return sp.Rational(*max(ready).as_integer_ratio())


def _after(
    ready: list[Fraction],
    step: list[tuple[int, int, int]],
    al: Fraction,
    be: Fraction,
    ga: Fraction,
) -> list[Fraction]:
    """Return when the ranks have ended a step of transfers (source, dest, bytes)."""
    after, added = list(ready), [Fraction(0)] * len(ready)
    for source, dest, size in step:
        until = max(ready[source], ready[dest]) + al + be * size
        after[source], after[dest] = max(after[source], until), max(after[dest], until)
        added[dest] = ga * size
    return [end + addition for end, addition in zip(after, added, strict=True)]


def _cut(size: int, parts: int) -> list[int]:
    """Return the sizes of parts that differ by one at most, the longer ones first."""
    return [size // parts + (index < size % parts) for index in range(parts)]


def _plan(n: int) -> Plan:
    above = {(tree, (c - 1 - tree) % n): p for tree in (0, 1) for c, p in _hang(1, n, None)}
    above = {edge: (p - 1 - edge[0]) % n for edge, p in sorted(above.items())}
    below = defaultdict(list)
    for (tree, child), parent in above.items():
        below[tree, parent].append((tree, child))
    colour = _coloured(above, below)

    def next_step(edge: Edge, before: list[int]) -> int:
        step = max(before, default=-1) + 1
        return step if step % 2 == colour[edge] else step + 1

    def climb(edge: Edge) -> int:
        return next_step(edge, [climb(each) for each in below[edge]])

    def descend(edge: Edge) -> int:
        over = (edge[0], above[edge])
        return next_step(edge, [descend(over)] if over in above else [])

    return Plan(above, {edge: climb(edge) for edge in above}, {e: descend(e) for e in above})


def _hang(low: int, high: int, parent: int | None) -> list[tuple[int, int]]:
    """Return (number, number above it) for all of low..high that hang below something."""
    if low > high:
        return []
    root = max(range(low, high + 1), key=lambda number: number & -number)
    own = [] if parent is None else [(root, parent)]
    return own + _hang(low, root - 1, root) + _hang(root + 1, high, root)


def _coloured(above: dict[Edge, int], below: dict[Edge, list[Edge]]) -> dict[Edge, int]:
    """Return the parity of every edge."""
    rivals = defaultdict(list)
    for tree, child in above:
        siblings = below[tree, above[tree, child]]
        rivals[tree, child] = [each for each in siblings if each != (tree, child)]
        rivals[tree, child] += [(1 - tree, child)] if (1 - tree, child) in above else []
    colour: dict[Edge, int] = {}
    for start in above:
        frontier = {start} - colour.keys()
        parity = 0
        while frontier:
            colour.update(dict.fromkeys(frontier, parity))
            frontier = {each for edge in frontier for each in rivals[edge]} - colour.keys()
            parity = 1 - parity
    return colour
