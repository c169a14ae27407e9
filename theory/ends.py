"""Where gradient descent without noise ends on quadratics that differ: beside x*, exactly.

f_i(x) = (x - c_i)'A_i(x - c_i)/2 + const. H local steps leave M_i = (I - gam A_i)^H of x - c_i, and
what does not move any more after an exchange by W solves a linear system:

    x_i = sum_j W_ij (c_j + M_j (x_j - c_j))

With W = J that is local GD, one model for all: sum_i (I - M_i) x = sum_i (I - M_i) c_i.
"""

from __future__ import annotations

import numpy as np

from theory.testbed import Floats, Heta

__all__ = ["distances", "models"]


def models(problem: Heta, gam: float, H: int, w: Floats) -> Floats:
    """Return the models (n, d) after every exchange by W (n, n)."""
    n, d = problem.b.shape
    centres = problem.b - np.linalg.solve(problem.A, problem.s[..., None])[..., 0]
    left = np.linalg.matrix_power(np.eye(d) - gam * problem.A, H)
    moved = centres - np.einsum("ijk,ik->ij", left, centres)
    mixed = np.einsum("ij,jkm->ikjm", w, left).reshape(n * d, n * d)
    end: Floats = np.linalg.solve(np.eye(n * d) - mixed, (w @ moved).ravel())
    return end.reshape(n, d)


def distances(problem: Heta, ends: Floats) -> dict[str, float]:
    """Return |mean of `ends` - x*|, and |x0 - ends|, root mean square; `ends` are (n, d)."""
    way = ((problem.x0 - ends) ** 2).sum(axis=1).mean()
    end = np.linalg.norm(ends.mean(axis=0) - problem.optimum)
    return {"end": float(end), "way": float(np.sqrt(way))}
