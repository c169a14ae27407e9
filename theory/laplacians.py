"""Ends of spectra: the slowest and the fastest mode of a graph whose links have one weight.

Lap = D - A, the degrees less the links, has eigenvalues 0 = l_0 < l_1 <= .. <= l_top. Gossip with
one weight w on all links is W = I - w Lap, so that |W - J|_2 = max(|1 - w l_1|, |1 - w l_top|).
Equal and Metropolis weights are w = 1/(1 + the largest degree). The best is w = 2/(l_1 + l_top),
where both ends are as slow; but nobody keeps less than nothing of its own, so that w is at most
1/(the largest degree). On graphs whose links are all alike no other symmetric weights mix faster.

Torus, hypercube and two levels are Cartesian products: their Laplacian is a Kronecker sum, so each
eigenvalue is a sum of one of each factor, 0 among them.

Source  Xiao & Boyd, "Fast linear iterations for distributed averaging", Systems & Control Letters,
        2004; Boyd, Diaconis, Parrilo & Xiao, "Fastest mixing Markov chain on graphs with
        symmetries", SIAM J. Optim., 2009.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import sympy as sp

from theory.symbols import symbol

__all__ = ["ENDS", "Ends", "ends", "fastest", "sides"]

_n = symbol("n")


class Ends(NamedTuple):
    """l_1, l_top and the largest degree, of two workers or more."""

    slow: sp.Expr
    top: sp.Expr
    degree: sp.Expr

    @property
    def eigenvalues(self) -> tuple[sp.Expr, sp.Expr]:
        """The second and the least eigenvalue of W, with w = 1/(1 + the largest degree)."""
        return 1 - self.slow / (1 + self.degree), 1 - self.top / (1 + self.degree)


def sides(n: int) -> tuple[int, int]:
    """Return the sides (a, b) of the most square torus of n workers, a <= b."""
    a = max(side for side in range(1, n + 1) if n % side == 0 and side * side <= n)
    return a, n // a


def _product(*factors: tuple[str, int]) -> Ends:
    """Return the ends of a product of graphs of so many workers; a single one adds nothing."""
    found = [ends(graph, n) for graph, n in factors if n > 1]
    slow, top, degree = zip(*found, strict=True)
    return Ends(sp.Min(*slow), sp.Add(*top), sp.Add(*degree))


def _torus(n: int) -> Ends:
    return _product(*(("ring", side) for side in sides(n)))


def _cube(n: int) -> Ends:
    if n & (n - 1):
        raise ValueError(f"a hypercube has 2^m corners, not {n}")
    return _product(*[("complete", 2)] * (n.bit_length() - 1))


def _two_level(n: int, group: int) -> Ends:
    """In nodes of `group` workers all hear all; who has the same place in its node, on a ring."""
    group = min(group, n)
    if group < 1 or n % group:
        raise ValueError(f"no closed form: {n} workers are no whole nodes of {group}")
    return _product(("complete", group), ("ring", n // group))


def _wave(side: sp.Expr, turns: sp.Expr | int) -> sp.Expr:
    """Return the eigenvalue of a ring at a wave of so many turns."""
    return 2 - 2 * sp.cos(2 * sp.pi * turns / side)


ENDS: dict[str, Ends | Callable[..., Ends]] = {
    "complete": Ends(_n, _n, _n - 1),
    "ring": Ends(_wave(_n, 1), _wave(_n, sp.floor(_n / 2)), sp.Integer(2)),
    "path": Ends(_wave(2 * _n, 1), _wave(2 * _n, _n - 1), sp.Integer(2)),
    "star": Ends(sp.Integer(1), _n, _n - 1),
    "hypercube": _cube,
    "torus": _torus,
    "two_level": _two_level,
}
"""By the name of the graph, for n > 2; products as functions of n, and of the workers of a node."""


def ends(graph: str, n: int) -> Ends:
    """Return the ends for n > 1 workers, as numbers.

    Raises
    ------
    ValueError
        If `graph`, such as ring or two_level:4, has no closed form here for n workers.
    """
    name, *arguments = graph.split(":")
    found = ENDS.get(name)
    if found is None or isinstance(found, Ends) and arguments:
        raise ValueError(f"no closed form of the spectrum of {graph!r}")
    if n == 2:  # one link, whatever the graph
        return Ends(*map(sp.Integer, (2, 2, 1)))
    if isinstance(found, Ends):
        return Ends(*(each.subs(_n, n) for each in found))
    return found(n, *map(int, arguments))


def fastest(graph: str, n: int) -> sp.Expr:
    """Return the best w for n > 1 workers; ValueError as `ends`."""
    found = ends(graph, n)
    return sp.Min(2 / (found.slow + found.top), 1 / found.degree)
