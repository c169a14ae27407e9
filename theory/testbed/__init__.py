"""Problems with exactly known constants: what the bounds are tried on.

iso            f = (L/2) |x|^2                        many bounds hold with equality
spec           f = (1/2) sum a_j x_j^2                curvatures over two decades
het            spec with zeta2 = 1                    workers that disagree
nc             f = (L/2) sum x_j^2 / (1 + x_j^2)      f'' in [-L/4, L], not convex
huber          a parabola with straight flanks        the worst case of gradient descent
pseudo_huber   the same, smooth                       convex, gradients bounded, flat far out
heta           quadratics that bend differently       local steps miss the minimum
least_squares  one random row a gradient              the noise of real data

Every method is vectorised over leading axes (seeds, steps): the last axis is the coordinate, the
one before it, where a method speaks of workers, is the worker.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from theory.testbed.base import Base, Floats, Oracle
from theory.testbed.heta import Heta, bends
from theory.testbed.least_squares import LeastSquares, made_up
from theory.testbed.synthetic import Huber, NonConvex, PseudoHuber, Quadratic, Synthetic, shifts

__all__ = ["Base", "Floats", "Heta", "Huber", "LeastSquares", "NonConvex", "OPTIONS"]
__all__ += ["Oracle", "PseudoHuber", "Quadratic", "Synthetic", "problem", "shifts"]

_NOISE = {"sigma2", "zeta2", "radius"}
OPTIONS: dict[str, set[str]] = {
    "iso": {"d", "L"} | _NOISE,
    "spec": {"spectrum"} | _NOISE,
    "het": {"spectrum"} | _NOISE,
    "nc": {"d", "L"} | _NOISE,
    "huber": {"d", "L", "c"} | _NOISE,
    "pseudo_huber": {"spectrum", "c"} | _NOISE,
    "heta": {"spectrum", "spread"} | _NOISE,
    "least_squares": {"samples", "spectrum", "batch"},
}


def problem(name: str, n: int, **options: Any) -> Base:
    """Return a problem of n workers.

    Parameters
    ----------
    name : str
        One of those above.
    n : int
        Number of workers.
    **options
        d=10, L=1.0 (iso, nc, huber), spectrum (all others), c=0.1 (huber) or 1.0 (pseudo_huber),
        spread=1.0 (heta), samples=200 and batch=1 (least_squares; no other batch); sigma2=1.0,
        zeta2=0.0 (het: 1.0), radius=1.0 (all but least_squares).

    Raises
    ------
    ValueError
        If the name or an option is unknown, or batch is not 1.
    """
    if name not in OPTIONS:
        raise ValueError(f"no problem {name!r}; there are {', '.join(OPTIONS)}")
    strange = options.keys() - OPTIONS[name]
    if strange:
        raise ValueError(f"problem {name!r} has no option {', '.join(sorted(strange))}")
    a = _curvatures(name, options)
    if name == "least_squares":
        return _least_squares(n, a, options)
    zeta2 = options.get("zeta2", 1.0 if name == "het" else 0.0)
    sigma2, radius = options.get("sigma2", 1.0), options.get("radius", 1.0)
    common = (n, a.size, float(a.max()), sigma2, zeta2, radius)
    if name == "nc":
        return NonConvex(*common)
    if name == "huber":
        return Huber(*common, c=options.get("c", 0.1))
    if name == "pseudo_huber":
        return PseudoHuber(*common, a, c=options.get("c", 1.0))
    if name == "heta":
        return Heta(*common, *bends(n, a, options.get("spread", 1.0)))
    return Quadratic(*common, a)


def _curvatures(name: str, options: Mapping[str, Any]) -> Floats:
    if name in ("iso", "nc", "huber"):
        return np.full(options.get("d", 10), float(options.get("L", 1.0)))
    return np.array(options.get("spectrum", np.geomspace(0.01, 1, 10)), dtype=np.float64)


def _least_squares(n: int, spectrum: Floats, options: Mapping[str, Any]) -> LeastSquares:
    if options.get("batch", 1) != 1:
        raise ValueError(f"batch = {options['batch']}: a worker draws one row")
    rows, targets = made_up(options.get("samples", 200), spectrum)
    L = float(np.linalg.eigvalsh(rows.T @ rows / len(rows))[-1])
    return LeastSquares(n, spectrum.size, L, rows, targets)
