"""Real data without convexity: the breast cancer set with a penalty that only pulls small weights.

    f(x) = (1/m) sum_k log(1 + exp(-v_k.x)) + alpha sum_j x_j^2/(1 + x_j^2)

Theorems on non-convex functions use it
(bsp-nonconvex, local-sgd-nonconvex, ef-sgd-nonconvex).

Letters alpha `_penalty.alpha` | the rest: logistic.py
Exact   L = max_i n w_i maxeig(V_i'V_i)/(4 m_i) + 2 alpha; sigma2 as in logistic.py
Unknown mu; and f_star: descent ends in a stationary point, and nothing says that it is the lowest.
        f >= 0, so f(x0) - f_star <= f(0) = log 2, which is what the theorems need.
"""

from __future__ import annotations

from typing import Any

from mpiddl.problems import problems
from mpiddl.problems.base import number
from mpiddl.problems.datasets import load
from mpiddl.problems.logistic import Logistic
from mpiddl.problems.penalty import Valleys

__all__ = ["logistic_nonconvex"]


@problems.register("logistic_nonconvex")
def logistic_nonconvex(workers: int, seed: int, *, alpha: float = 0.1, **options: Any) -> Logistic:
    """The breast cancer data with a penalty that is not convex.

    Its weight is `alpha` > 0; `options` as in `Logistic`, 16 rows per gradient by default.
    """
    penalty = Valleys(number("alpha", alpha, above=True))
    options = {"name": "logistic_nonconvex", **options}
    return Logistic.from_arrays(*load("breast_cancer"), workers, seed, penalty=penalty, **options)
