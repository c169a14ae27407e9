"""What every compressor guarantees for all vectors, with a proof, and where it is attained.

Two kinds of promise are made for vectors x of b entries. Unbiased: E C(x) = x and
E|C(x) - x|^2 <= omega |x|^2. Contractive: E|C(x) - x|^2 <= (1 - delta) |x|^2. C(x) is in
`theory.outcomes`.

Letters b entries | k entries kept | s levels | one = sum |x_j| | two = |x|^2
"""

from __future__ import annotations

import sympy as sp

from theory.algebra import is_zero
from theory.constant import Constant
from theory.positivity import Domain
from theory.quantizers import QUANTIZERS
from theory.symbols import symbol

__all__ = ["CONSTANTS", "HALF", "TINY", "Constant"]

b, s, omega = symbol("b"), symbol("s"), symbol("omega")
k = sp.Symbol("k", positive=True)
one, two = sp.symbols("one two", positive=True)
rest, p, q, u = sp.symbols("rest p q u", nonnegative=True)
EVERYWHERE = Domain()

HALF = sp.Rational(1, 2**11)
"""Rounding to 11 bits moves a number by at most this share of itself, less by 1 part in 2049."""
TINY = sp.Rational(1, 2**25)
"""Below 2^-14 a float16 moves a number by at most this."""


def _all_of_it() -> bool:
    """C(x) = x."""
    return True


def _largest() -> bool:
    """With m the k-th largest square, kept = k m + p and lost = (b - k) m - q, p and q >= 0."""
    m, size = sp.Symbol("m", positive=True), k + rest
    kept, lost = k * m + p, rest * m - q
    return EVERYWHERE.nonnegative((1 - k / size) * (kept + lost) - lost)


def _largest_alike() -> bool:
    """The smallest magnitude said is m, the k of them are k m + u: kept = (k m + u)^2 / k.

    Squares of what exceeds m add to at most u^2, the others to (b - k) m^2: so two is at most
    b m^2 + 2 m u + u^2. For delta = v with k = b (v + p), 1/k = v + q and v <= 1, v two is less.
    """
    m, v, w = sp.symbols("m v w", nonnegative=True)
    kept = b * (v + p) * m**2 + 2 * m * u * (v + w) + (v + q) * u**2  # v + w = 1
    exact = is_zero((k * m + u) ** 2 / k - (k * m**2 + 2 * m * u + u**2 / k))
    return exact and EVERYWHERE.nonnegative(kept - v * (b * m**2 + 2 * m * u + u**2))


def _kept_by_chance(scale: sp.Expr, loss: sp.Expr) -> bool:
    """An entry 1 becomes `scale` with probability k/b, else 0; `loss` on average."""
    chance = k / b
    return is_zero(chance * (scale - 1) ** 2 + (1 - chance) - loss)


def _random_scaled() -> bool:
    """Every entry is kept, b/k times as large, with probability k/b: b/k - 1 of its square."""
    return _kept_by_chance(b / k, b / k - 1)


def _random() -> bool:
    """Every entry is kept with probability k/b: 1 - k/b of its square is lost, in any vector."""
    return _kept_by_chance(sp.Integer(1), 1 - k / b)


def _mean_magnitude() -> bool:
    """|x - (one/b) sign x|^2 = two - one^2/b, and one^2 >= two by adding entries one by one."""
    scale, entry = one / b, sp.Symbol("x", positive=True)
    exact = is_zero(two - 2 * scale * one + b * scale**2 - (two - one**2 / b))
    more = (entry + one) ** 2 - (entry**2 + two)
    return exact and EVERYWHERE.nonnegative(more.subs(two, one**2 - p))


def _spread_out() -> bool:
    """one^2 <= b two, by adding entries one by one: where two = (one^2 + p)/b, p >= 0."""
    entry = sp.Symbol("x", positive=True)
    more = ((b + 1) * (entry**2 + two) - (entry + one) ** 2).subs(two, (one**2 + p) / b)
    return is_zero(more - (b * entry - one) ** 2 / b - p * (1 + 1 / b))


def _one_level() -> bool:
    """An entry r of the norm 1 becomes 1 with probability r: sum r (1 - r) = one - 1, two = 1."""
    r = sp.Symbol("r", positive=True)
    return is_zero(r * (1 - r) ** 2 + (1 - r) * r**2 - (r - r**2)) and _spread_out()


def _levels() -> bool:
    """Entry s r = floor + u loses u (1 - u)/s^2, which is at most 1/(4 s^2), and u/s^2 <= r/s."""
    loss = u * (1 - u) ** 2 + (1 - u) * u**2
    quarter = is_zero(sp.Rational(1, 4) - loss - (u - sp.Rational(1, 2)) ** 2)
    return quarter and is_zero(u - loss - u**2) and _spread_out()


def _rounded() -> bool:
    """The largest lies in [2^14, 2^15), so two >= 2^28; entries lose HALF of themselves or TINY."""
    above = two - 2**28
    lost, allowed = HALF**2 * two + b * TINY**2, (1 - CONSTANTS["fp16"].value) * two
    return is_zero(allowed - lost - above * b / sp.Integer(2) ** 78)


def _shrunk() -> bool:
    """With E|Q|^2 = (1 + omega) two - p: |Q/(1 + omega) - x|^2 has the mean of the right side."""
    second = (1 + omega) * two - p
    loss = second / (1 + omega) ** 2 - 2 * two / (1 + omega) + two
    return is_zero((1 - 1 / (1 + omega)) * two - loss - p / (1 + omega) ** 2)


EQUAL = "all magnitudes equal"
EVERY = "every vector"
FEW_LEVELS = sp.Min(b / (4 * s**2), sp.sqrt(b) / s)

CONSTANTS: dict[str, Constant] = {
    "identity": Constant(True, sp.Integer(0), EVERY, _all_of_it),
    "topk": Constant(False, k / b, EQUAL, _largest),
    "sign": Constant(False, 1 / b, "one entry alone", _mean_magnitude),
    "randk": Constant(True, b / k - 1, EVERY, _random_scaled),
    "randk, not scaled": Constant(False, k / b, EVERY, _random),
    "qsgd, s = 1": Constant(True, sp.sqrt(b) - 1, EQUAL, _one_level),
    "qsgd, s > 1": Constant(True, FEW_LEVELS, "", _levels),
    "fp16": Constant(
        False, 1 - HALF**2 - b / sp.Integer(2) ** 78, "", _rounded, "1 - 1/2^22 - b/2^78"
    ),
    **QUANTIZERS,
    "ternary": Constant(False, sp.Min(k / b, 1 / k), "", _largest_alike),
    "Q/(1 + omega)": Constant(False, 1 / (1 + omega), "every vector, if Q attains", _shrunk),
}
"""By compressor. Without the common scale of fp16 there is no delta > 0: all of a vector may be
below the smallest float16, or above the largest."""
