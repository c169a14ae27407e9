"""What neighbours in a graph say to each other: gossip, and meetings of two.

What a message is made of tells `theory.wire.MESSAGE`: its bytes go in here as b, with w = 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from theory.cost.forms import Cost, al, b, be, n, w

__all__ = ["gossip", "gossip_by", "pairwise"]

m = b * w


def gossip(degree: int | sp.Expr) -> Cost:
    """Every rank sends its vector to `degree` neighbours, one after another, in rotation.

    Parameters
    ----------
    degree : int or sympy.Expr
        Neighbours per rank; a rank has at most n - 1 (a ring of two ranks: one).
    """
    neighbours = sp.Min(degree, n - 1)
    return Cost(n * neighbours, n * neighbours * m, neighbours * (al + be * m))


def gossip_by(matrix: Any) -> Cost:
    """Every rank sends its vector to those who mix it in by W, in rotation.

    Messages are W's entries off the diagonal that are not zero. The time is exact where every
    rank speaks to the same distances (a circulant W: ring, complete, exponential graph): then
    in rotation nobody waits. Of other graphs the time is not known here: nan.

    Parameters
    ----------
    matrix : array, (n, n)
        Row i: with which weights rank i mixes.
    """
    spoken = (np.asarray(matrix) != 0) & ~np.eye(len(matrix), dtype=bool)
    distances = [np.flatnonzero(np.roll(row, -rank)) for rank, row in enumerate(spoken)]
    edges, alike = int(spoken.sum()), all(np.array_equal(distances[0], d) for d in distances)
    time = len(distances[0]) * (al + be * m) if alike else sp.nan
    return Cost(sp.Integer(edges), edges * m, time)


def pairwise(meetings: int | sp.Expr) -> Cost:
    """At a meeting one sends its vector, and is answered with half of what they differ by.

    The answer is as long as the question, and neither has a header: of whom and of which clock it
    is both know. When who meets only a run tells, so no time is known here.

    Parameters
    ----------
    meetings : int or sympy.Expr
        Of all ranks: one for each clock of a worker who has a neighbour.
    """
    return Cost(2 * sp.sympify(meetings), 2 * meetings * m, sp.nan)
