"""Gossip's graphs as drawings: a dot is a rank, a line joins two that hear each other.

Edges and numbers are read from the mixing matrices that runs use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from math import cos, pi, sin
from typing import TypeAlias

import numpy as np

from bench.html.markup import Markup, element, join
from bench.html.numbers import plain
from mpiddl.architecture.topology import Matrix, contraction, cycle, edges, find
from mpiddl.errors import ConfigurationError

__all__ = ["graphs"]

Point: TypeAlias = tuple[float, float]
RANKS = 16  # drawn; a torus of 4 x 4, a hypercube of 4 dimensions
RADIUS, DOT = 44.0, 3.4


def graphs(ranks: int | None) -> Markup:
    """Return all graphs with their spectral gap, on RANKS ranks and on those of the run."""
    return element("div", *(_figure(name, ranks) for name in PLACES), class_="graphs")


def gap(turn: Sequence[Matrix]) -> float:
    """Return by how much a turn of mixings shrinks what is apart: 1 - lam.

    Where rows do not add up to 1, as for push-sum: 1 - the second eigenvalue, in modulus.
    """
    w = reduce(np.matmul, reversed(turn))
    if np.allclose(w.sum(axis=1), 1):
        return 1 - contraction(w)
    return 1 - float(np.sort(np.abs(np.linalg.eigvals(w)))[-2])


def _figure(name: str, ranks: int | None) -> Markup:
    turn = cycle(find(name), RANKS)
    speed, w = plain(gap(turn), 3), sum(turn[1:], turn[0])
    oneway = " one way" if (w != w.T).any() else ""
    clocks = f" a turn of {len(turn)} clocks" if len(turn) > 1 else ""
    words = [f"1 - λ = {speed}{clocks}", f"{edges(turn[0])} messages{oneway}"]
    if ranks is not None and ranks != RANKS:
        try:
            there = plain(gap(cycle(find(name), ranks)), 3)
        except ConfigurationError:
            there = "none"
        words.append(f"on {ranks} ranks: {there}")
    label = f"{name} of {RANKS} ranks, spectral gap {speed}"
    lines = (element("span", line) for line in words)
    caption = element("figcaption", element("b", name), *lines)
    return element("figure", _drawing(w, PLACES[name](RANKS), label), caption)


def _drawing(w: Matrix, places: list[Point], label: str) -> Markup:
    linked = (w + w.T - np.diag(np.diagonal(w + w.T))) != 0
    pairs = [(i, j) for i in range(len(w)) for j in range(i) if linked[i, j]]
    paths = "".join(_edge(places[i], places[j], places) for i, j in pairs)
    dots = join(element("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=DOT) for x, y in places)
    return element(
        "svg",
        element("title", label),
        element("path", d=paths),
        dots,
        viewBox="-54 -54 108 108",
        role="img",
        aria_label=label,
    )


def _edge(a: Point, b: Point, places: list[Point]) -> str:
    """Return a line from `a` to `b`; it bends where it would run through a dot."""
    (ax, ay), (bx, by) = a, b
    length = ((bx - ax) ** 2 + (by - ay) ** 2) ** 0.5
    through = any(
        point not in (a, b)
        and abs((bx - ax) * (y - ay) - (by - ay) * (x - ax)) < 0.5 * length
        and (x - ax) * (x - bx) + (y - ay) * (y - by) < 0
        for point in places
        for x, y in (point,)
    )
    start = f"M{ax:.1f} {ay:.1f}"
    if not through:
        return f"{start}L{bx:.1f} {by:.1f}"
    bend = 0.32 if (ax + bx) * (by - ay) - (ay + by) * (bx - ax) > 0 else -0.32  # outwards
    middle = (ax + bx) / 2 + bend * (by - ay), (ay + by) / 2 - bend * (bx - ax)
    return f"{start}Q{middle[0]:.1f} {middle[1]:.1f} {bx:.1f} {by:.1f}"


def _circle(n: int) -> list[Point]:
    turns = [2 * pi * rank / n - pi / 2 for rank in range(n)]
    return [(RADIUS * cos(turn), RADIUS * sin(turn)) for turn in turns]


def _arc(n: int) -> list[Point]:
    turns = [2 * pi * (rank / (n - 1) - 0.5) * 0.82 - pi / 2 for rank in range(n)]
    return [(RADIUS * cos(turn), RADIUS * sin(turn)) for turn in turns]


def _wheel(n: int) -> list[Point]:
    return [(0.0, 0.0), *_circle(n - 1)]


def _square(n: int) -> list[Point]:
    side = round(n**0.5)
    step = 66 / (side - 1)
    return [(-33 + step * (rank % side), -33 + step * (rank // side)) for rank in range(n)]


def _cube(n: int) -> list[Point]:
    """Return corners by the bits of their rank: each bit moves in a direction of its own."""
    bits = (n - 1).bit_length()
    turns = [pi * (bit + 0.5) / bits for bit in range(bits)]
    signs = [[1 if rank >> bit & 1 else -1 for bit in range(bits)] for rank in range(n)]
    far = RADIUS * sin(pi / (2 * bits))  # then the outermost corners are as far out as a ring's
    return [
        (
            far * sum(sign * cos(turn) for sign, turn in zip(own, turns, strict=True)),
            far * sum(sign * sin(turn) for sign, turn in zip(own, turns, strict=True)),
        )
        for own in signs
    ]


def _nodes(n: int) -> list[Point]:
    """Return four ranks a node, nodes in a circle."""
    ranks = range(n)
    turns = [2 * pi * (rank // 4 + 0.5) / (n // 4) - pi / 2 for rank in ranks]
    own = [
        (14 * cos(turn), 14 * sin(turn)) for turn in (pi / 2 * (rank % 4 + 0.3) for rank in ranks)
    ]
    return [(30 * cos(t) + x, 30 * sin(t) + y) for t, (x, y) in zip(turns, own, strict=True)]


PLACES: dict[str, Callable[[int], list[Point]]] = {
    "path": _arc,
    "ring": _circle,
    "star": _wheel,
    "torus": _square,
    "hypercube": _cube,
    "exponential": _circle,
    "one_peer_exponential": _circle,
    "complete": _circle,
    "two_level:4": _nodes,
    "random_regular:4": _circle,
    "erdos_renyi:0.3": _circle,
    "directed_random:0.1": _circle,
}
