"""What words that round every entry guarantee for all vectors, with proofs; see `compressors`.

Letters b entries | s levels, or entries of a block | r one magnitude, of the largest or of the norm
"""

from __future__ import annotations

import sympy as sp

from theory.algebra import is_zero
from theory.constant import Constant
from theory.positivity import Domain
from theory.symbols import symbol

__all__ = ["QUANTIZERS"]

b, s = symbol("b"), symbol("s")
r = sp.Symbol("r", nonnegative=True)
x = sp.sqrt(b) * 2 ** (1 - s)
FAR, NEAR = sp.Rational(9, 4), sp.Rational(1, 8) + 2 * x**2 / 9
UPPER = sp.Rational(1, 2**8)
"""Rounding to 8 bits moves a number by at most this share of itself."""
STEPS = 255


def _ternary() -> bool:
    """The largest is 1 and loses nothing, r loses r - r^2: the allowed less that is a square.

    Every one of the b - 1 others is allowed its part of omega and omega r^2.
    """
    omega, c = (sp.sqrt(b) - 1) / 2, 1 / (1 + sp.sqrt(b))
    loss = r * (1 - r) ** 2 + (1 - r) * r**2
    allowed = omega / (b - 1) + omega * r**2
    return is_zero(sp.simplify(allowed - loss - (omega + 1) * (r - c) ** 2))


def _natural() -> bool:
    """Of r in [1, 2], times any power of two, (r - 1)(2 - r) is lost: r^2/8 less a square."""
    loss = (2 - r) * (r - 1) ** 2 + (r - 1) * (2 - r) ** 2
    return is_zero(r**2 / 8 - loss - sp.Rational(9, 8) * (r - sp.Rational(4, 3)) ** 2)


def _two_means() -> bool:
    """A side of n <= b entries with the square sum r keeps (r + p)/n, p >= 0: at least r/b."""
    n = sp.Symbol("n", positive=True)
    more, p = sp.symbols("more p", nonnegative=True)
    return Domain().nonnegative((r + p) / n - r / (n + more))


def _upper_half() -> bool:
    """An entry 1 + r, up to 2, moves by 2^-8 at most; the last ones lie 2^-7 below 2, cut there."""
    cut = 2 - 2 * UPPER
    last = UPPER * (2 - r) - (2 - r - cut)  # of entries 2 - r, r >= 0 and not below the cut
    return Domain().nonnegative(UPPER * (1 + r) - UPPER) and is_zero(last - (1 - UPPER) * r)


def _dithered() -> bool:
    """Between powers of two as `natural`; below the least, t, r loses r (t - r) (s = 1: all do).

    That is r^2/8 + 2 t^2/9 less a square. Where the small have the square sum y^2, it is at most
    x y - y^2 in all, so omega <= 1/8 + x y - 9 y^2/8, which is x - 1 at y = 1 and less before.
    """
    t, p, q = sp.symbols("t p q", nonnegative=True)
    square = sp.Rational(9, 8) * (r - 4 * t / 9) ** 2
    each = is_zero(r**2 / 8 + 2 * t**2 / 9 - r * (t - r) - square)
    far, y = FAR + p, 1 - q
    less = far - 1 - (sp.Rational(1, 8) + far * y - sp.Rational(9, 8) * y**2)
    return each and is_zero(less - q * (p + sp.Rational(9, 8) * q))


def _steps() -> bool:
    """Ends m and n are exact, the others lose half a step: (m - n)^2 <= 2 (m^2 + n^2)."""
    m, n = sp.symbols("m n", real=True)
    step = (m - n) / STEPS
    allowed = (m**2 + n**2) / (2 * STEPS**2)
    return is_zero(allowed - (step / 2) ** 2 - ((m + n) / (2 * STEPS)) ** 2)


QUANTIZERS: dict[str, Constant] = {
    "terngrad": Constant(
        True, (sp.sqrt(b) - 1) / 2, "two magnitudes, 1 once and 1/(1 + sqrt(b))", _ternary
    ),
    "natural": Constant(True, sp.Rational(1, 8), "4/3 of powers of two, all entries", _natural),
    "onebit": Constant(False, 1 / b, "positive entry alone", _two_means),
    "bf16": Constant(False, 1 - UPPER**2, "", _upper_half, "1 - 1/2^16"),
    "dithering": Constant(
        True,
        sp.Piecewise((x - 1, sp.Or(sp.Eq(s, 1), x >= FAR)), (NEAR, True)),
        "",
        _dithered,
        "x - 1 if s = 1 or x >= 9/4, else 1/8 + 2 x^2/9, where x = sqrt(b) 2^(1-s)",
    ),
    "int8": Constant(
        False,
        1 - sp.Max(0, sp.Min(b, s) - 2) / (2 * STEPS**2),
        "plus and minus the same, else zeros",
        _steps,
        "1 - (min(b, s) - 2)/(2 255^2), s entries to a block",
    ),
}
"""By compressor."""
