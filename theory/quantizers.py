"""What words that round every entry guarantee for all vectors, with proofs; see `compressors`.

Letters b entries | r one magnitude, of the largest or of the norm
"""

from __future__ import annotations

import sympy as sp

from theory.algebra import is_zero
from theory.constant import Constant
from theory.symbols import symbol

__all__ = ["QUANTIZERS"]

b = symbol("b")
r = sp.Symbol("r", nonnegative=True)


def _ternary() -> bool:
    """The largest is 1 and loses nothing, r loses r - r^2: the allowed less that is a square.

    Every one of the b - 1 others is allowed its part of omega and omega r^2.
    """
    omega, c = (sp.sqrt(b) - 1) / 2, 1 / (1 + sp.sqrt(b))
    loss = r * (1 - r) ** 2 + (1 - r) * r**2
    allowed = omega / (b - 1) + omega * r**2
    return is_zero(sp.simplify(allowed - loss - (omega + 1) * (r - c) ** 2))


QUANTIZERS: dict[str, Constant] = {
    "terngrad": Constant(
        True, (sp.sqrt(b) - 1) / 2, "two magnitudes, 1 once and 1/(1 + sqrt(b))", _ternary
    ),
}
"""By compressor."""
