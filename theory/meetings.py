"""How fast random meetings of two neighbours mix: nu = |E W'W - J|_2.

W = I - (e_j - e_k)(e_j - e_k)'/2 for an edge (j, k) drawn evenly is a projection, so E W'W = E W =
I - (Laplacian)/(2 edges), and nu = 1 - l2/(2 edges) with l2 the second eigenvalue of the Laplacian.
"""

from __future__ import annotations

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from theory.mixing import matrix
from theory.symbols import symbol
from theory.testbed import Floats

__all__ = ["CLOSED_FORMS", "edges", "meet", "measured_nu", "nu"]

_n = symbol("n")
CLOSED_FORMS: dict[str, sp.Expr] = {
    "complete": 1 - 1 / (_n - 1),
    "ring": sp.Piecewise((0, _n < 3), (1 - (1 - sp.cos(2 * sp.pi / _n)) / _n, True)),
    "path": 1 - (1 - sp.cos(sp.pi / _n)) / (_n - 1),
    "star": sp.Piecewise((0, _n < 3), (1 - 1 / (2 * (_n - 1)), True)),
    "hypercube": 1 - 2 / (_n * sp.log(_n, 2)),
}
"""nu by the number of workers, of which there are at least two."""


def edges(topology: str, n: int) -> NDArray[np.int64]:
    """Return the pairs that may meet, (edges, 2)."""
    pairs: NDArray[np.int64] = np.argwhere(np.triu(matrix(topology, n), 1) > 0)
    return pairs


def nu(topology: str, n: int) -> float:
    """Return nu by its closed form; 0 for one worker, who has nobody to differ from.

    Raises
    ------
    ValueError
        If the topology has no closed form here.
    """
    if topology not in CLOSED_FORMS:
        raise ValueError(f"no closed form of nu for {topology!r}")
    return float(CLOSED_FORMS[topology].subs(_n, n)) if n > 1 else 0.0


def measured_nu(pairs: NDArray[np.int64], n: int) -> float:
    """Return |E W'W - J|_2 of meetings (edges, 2) that are all as likely."""
    squares: Floats = np.zeros((n, n))
    for pair in pairs:
        w = np.eye(n)
        w[np.ix_(pair, pair)] = 0.5
        squares += w.T @ w
    return float(np.linalg.norm(squares / len(pairs) - 1 / n, 2))


def meet(x: Floats, pairs: NDArray[np.int64]) -> None:
    """Let pairs (S, 2) of workers average in place, one pair for every seed of x (S, n, d)."""
    seeds = np.arange(len(x))[:, None]
    x[seeds, pairs] = x[seeds, pairs].mean(axis=1, keepdims=True)
