"""Numbers out of formulas: compiled once, called with letters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import mpmath
import numpy as np
import sympy as sp

__all__ = ["Evaluated", "Precise", "slackened"]


def slackened(condition: sp.Rel) -> sp.Rel:
    """Allow rounding on weak inequalities: gam = 1/L must pass gam L <= 1."""
    left, right = condition.lhs, condition.rhs
    room = sp.Float(1e-12) * (1 + sp.Abs(left) + sp.Abs(right))
    if isinstance(condition, sp.Le):
        return sp.Le(left, right + room, evaluate=False)
    if isinstance(condition, sp.Ge):
        return sp.Ge(left + room, right, evaluate=False)
    return condition


class Evaluated:
    """An expression compiled for NumPy, called with a mapping of letters to numbers."""

    def __init__(self, name: str, expression: sp.Basic) -> None:
        self.name = name
        self.letters = sorted(str(x) for x in expression.free_symbols)
        self.function: Callable[..., Any] = sp.lambdify(self.letters, expression, "numpy")

    def __call__(self, values: Mapping[str, float]) -> Any:
        """Return the value; raise ValueError if a letter is missing."""
        missing = [x for x in self.letters if x not in values]
        if missing:
            raise ValueError(f"{self.name} needs values for: {', '.join(missing)}")
        return self.function(*(values[x] for x in self.letters))


class Precise(Evaluated):
    """An expression evaluated with 50 digits: differences such as 1 - rho^(2T) keep theirs."""

    def __init__(self, name: str, expression: sp.Basic) -> None:
        super().__init__(name, expression)
        self.function = sp.lambdify(self.letters, expression, "mpmath")

    def __call__(self, values: Mapping[str, float]) -> float:
        """Return the value; raise ValueError if a letter is missing."""
        exact = {x: _number(values[x]) for x in self.letters if x in values}
        with mpmath.workdps(50):
            return float(super().__call__(exact))


def _number(value: float) -> Any:
    """Return whole numbers as `int`, which count the terms of sums, others as `mpf`."""
    whole = isinstance(value, int | np.integer)
    return int(value) if whole else mpmath.mpf(float(value))
