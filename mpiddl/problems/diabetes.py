"""Real least squares: the progression of diabetes after a year, told from 10 numbers per patient.

442 rows, d = 10; columns and target are standardised (divided by m), so that no bias is needed. Of
two nearly parallel columns comes kappa = L/mu = 470: a real problem that is badly conditioned. The
set is B. Efron, T. Hastie, I. Johnstone, R. Tibshirani, "Least Angle Regression", Annals of
Statistics 32(2), 2004; data/LICENSE-data.md has its source and licence.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mpiddl.problems import problems
from mpiddl.problems.datasets import load, standardised
from mpiddl.problems.least_squares import LeastSquares

__all__ = ["diabetes"]


@problems.register("diabetes")
def diabetes(workers: int, seed: int, **options: Any) -> LeastSquares:
    """Least squares on 442 real patients: badly conditioned.

    `options` as in `LeastSquares`, 16 rows per gradient by default.
    """
    rows = standardised(np.column_stack(load("diabetes")))
    return LeastSquares("diabetes", workers, seed, rows, **options)
