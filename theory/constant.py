"""A promise about a compressor that holds for every vector, with its proof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sympy as sp

__all__ = ["Constant"]


@dataclass(frozen=True)
class Constant:
    """What is guaranteed for every vector.

    Parameters
    ----------
    unbiased : bool
        Whether `value` is omega; else it is delta.
    value : Expr
        In b, k, s (and omega, of the compressor inside).
    attained : str
        The vectors on which the guarantee is an equality; empty if none are known.
    proof : callable
        Returns whether sympy confirms the proof in its docstring.
    written : str
        How `value` is shown, if not as sympy shows it.
    """

    unbiased: bool
    value: sp.Expr
    attained: str
    proof: Callable[[], bool]
    written: str = ""

    def __str__(self) -> str:
        return f"{'omega' if self.unbiased else 'delta'} = {self.written or self.value}"

    def at(self, **letters: float) -> float:
        """Return the value as a number; other letters are ignored."""
        known = {sp.Symbol(x, positive=True): y for x, y in letters.items()}
        values = {x: known[sp.Symbol(str(x), positive=True)] for x in self.value.free_symbols}
        return float(self.value.subs(values))
