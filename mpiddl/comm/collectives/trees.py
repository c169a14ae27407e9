"""The two trees of double_tree.py, and when each of their edges is used.

Trees   Number the ranks 1..n and let every number hang below the multiple of the next power of
        two that is nearest to it and still a number: odd ones are leaves, the largest power of
        two is the root. The second tree counts from one rank further on, so that the leaves of
        one tree are the inner ranks of the other.
Colours An edge is even or odd, so that the two edges by which a rank hangs differ, and the two by
        which ranks hang below it. Even edges work in even steps: then a rank sends to one and
        hears one at a time. Edges that must differ form paths and even circles (in turn they
        share the rank that hangs and the rank above), so that two colours are enough.
Source  Sanders, Speck & Traff, "Two-tree algorithms for full bandwidth broadcast, reduction and
        scan", 2009.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from mpiddl.comm.collectives.blocks import levels

__all__ = ["Edge", "edges"]


class Edge(NamedTuple):
    """`child` hangs below `parent` in `tree` 0 or 1.

    `up` and `down` are the first steps in which sums go up and results come down.
    """

    tree: int
    child: int
    parent: int
    up: int
    down: int


@cache
def edges(size: int) -> tuple[Edge, ...]:
    """Return the edges of both trees over `size` ranks."""
    trees = [_tree(size, tree) for tree in (0, 1)]
    found = []
    for tree, (above, colour) in enumerate(zip(trees, _colours(trees), strict=True)):
        below = _below(above)
        for child, parent in above.items():
            up, down = _up(child, below, colour), _down(child, above, colour)
            found.append(Edge(tree, child, parent, up, down))
    return tuple(found)


def _tree(size: int, tree: int) -> dict[int, int]:
    """Return the parent of every rank but the root."""
    found, root = {}, 1 << levels(size)
    for rank in range(size):
        number = parent = (rank + tree) % size + 1
        while number != root and (parent == number or parent > size):
            lowest = parent & -parent
            parent = parent - lowest | 2 * lowest
        if number != root:
            found[rank] = (parent - 1 - tree) % size
    return found


def _below(above: dict[int, int]) -> dict[int, list[int]]:
    """Return the children of every rank that has some."""
    found: dict[int, list[int]] = {}
    for child, parent in above.items():
        found.setdefault(parent, []).append(child)
    return found


def _colours(trees: list[dict[int, int]]) -> list[dict[int, int]]:
    """Return 0 or 1 for the edge of every child in either tree."""
    colours: list[dict[int, int]] = [{}, {}]
    below = [_below(above) for above in trees]
    for start in [(tree, child) for tree in (0, 1) for child in trees[tree]]:
        pending = [(*start, 0)]
        while pending:
            tree, child, colour = pending.pop()
            if child not in colours[tree]:
                colours[tree][child] = colour
                beside = [(tree, each) for each in below[tree][trees[tree][child]] if each != child]
                other = [(1 - tree, child)] if child in trees[1 - tree] else []
                pending += [(*each, 1 - colour) for each in beside + other]
    return colours


def _up(child: int, below: dict[int, list[int]], colour: dict[int, int]) -> int:
    """Return the first step of the edge above `child`: after those below it, in its colour."""
    earliest = max((_up(each, below, colour) + 1 for each in below.get(child, [])), default=0)
    return earliest + (earliest + colour[child]) % 2


def _down(child: int, above: dict[int, int], colour: dict[int, int]) -> int:
    """Return the first step of the edge above `child`: after the one above it, in its colour."""
    parent = above[child]
    earliest = _down(parent, above, colour) + 1 if parent in above else 0
    return earliest + (earliest + colour[child]) % 2
