"""Exact zero tests for bounds: rational functions with powers r**T, roots and finite sums.

`simplify` is slow and gives no promise. Here an expression is rewritten over *generators*, one per
irreducible base and exponent letter, ``(1-gam*mu)**(2*T+1) -> (1-gam*mu) * Y**2``, and one per
sixth root of an irreducible polynomial (square and cube roots occur); it is zero if the numerator
over these generators is the zero polynomial. A root of a product becomes a product of roots, which
fixes each root up to its sign; `same` therefore looks at random points too, where signs show.
"""

from __future__ import annotations

import random
from functools import cache

import sympy as sp

__all__ = ["GENERATORS", "at_point", "at_reference", "canonical", "evaluated", "is_zero"]
__all__ += ["reduced", "same"]

LONG = 100  # operations: a longer expression is first tried with letters for what it repeats

# generator -> (base, exponent): its value is base**exponent
GENERATORS: dict[sp.Dummy, tuple[sp.Expr, sp.Expr]] = {}
_BY_VALUE: dict[tuple[sp.Expr, sp.Expr], sp.Dummy] = {}

# A point inside the domain of every theorem; it decides which of p, -p is called the base.
_REFERENCE = {
    "n": 8,
    "T": 96,
    "H": 4,
    "k": 3,
    "t": 5,
    "L": 2,
    "Lmax": 3,
    "a": 40,
    "gam": "1/64",
    "mu": "1/4",
    "Pw": 4,
}


def _generator(base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    key = (base, exponent)
    if key not in _BY_VALUE:
        _BY_VALUE[key] = sp.Dummy(f"({base})^({exponent})")
        GENERATORS[_BY_VALUE[key]] = key
    return _BY_VALUE[key]


@cache
def at_reference(expression: sp.Expr) -> sp.Expr:
    """Return the value of `expression` at a point inside the domain of every theorem."""
    values = {}
    for x in expression.free_symbols:
        if x in GENERATORS:
            base, exponent = GENERATORS[x]
            values[x] = at_reference(base) ** at_reference(exponent)
        else:
            values[x] = sp.Rational(_REFERENCE.get(str(x), "1/2"))
    return sp.N(expression.subs(values))


@cache
def _factors(expression: sp.Expr) -> tuple[sp.Rational, tuple[tuple[sp.Expr, int], ...]]:
    """Return the constant and the irreducible factors, each positive at the reference point."""
    numerator, denominator = sp.fraction(sp.together(expression))
    constant, factors = sp.Integer(1), []
    for part, direction in ((numerator, 1), (denominator, -1)):
        coefficient, found = sp.factor_list(part)
        constant *= coefficient**direction
        for base, multiplicity in found:
            flip = bool(at_reference(base) < 0)
            constant *= (-1) ** multiplicity if flip else 1
            factors.append((sp.expand(-base) if flip else base, direction * multiplicity))
    return constant, tuple(factors)


def _power(base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    """Rewrite base**exponent, exponent a fraction or linear in integer letters."""
    constant, factors = _factors(canonical(base))
    primes = sp.factorrat(constant) if constant.is_Rational else {constant: 1}
    parts = [*factors, *((sp.Integer(p), m) for p, m in primes.items())]
    result = sp.Integer(1)
    for p, multiplicity in parts:
        for letter, weight in (exponent * multiplicity).expand().as_coefficients_dict().items():
            if letter == 1 and sp.Rational(weight).q == 1:
                result *= p**weight
            elif letter == 1:
                whole = sp.floor(weight)
                result *= p**whole * _generator(p, sp.Rational(1, 6)) ** (6 * (weight - whole))
            else:
                result *= _generator(p, letter) ** (weight % 2 if p == -1 else weight)
    return result


@cache
def canonical(expression: sp.Expr) -> sp.Expr:
    """Return `expression` over generators; functions other than powers stay as they are."""
    if isinstance(expression, sp.exp) and expression.args[0].is_Rational:
        return _generator(sp.E, sp.Rational(1, 6)) ** (6 * expression.args[0])
    if isinstance(expression, sp.Pow):
        base, exponent = expression.args
        if exponent.is_Integer:
            return canonical(base) ** exponent
        return _power(base, exponent)
    if isinstance(expression, (sp.Add, sp.Mul)):
        return expression.func(*map(canonical, expression.args))
    return expression


def reduced(polynomial: sp.Expr) -> sp.Expr:
    """Expand, and replace the q-th power of a q-th root by its radicand."""
    polynomial = sp.expand(polynomial)
    for g in polynomial.free_symbols & GENERATORS.keys():
        base, exponent = GENERATORS[g]
        if (
            exponent.is_Rational
            and polynomial.has(sp.Pow)
            and sp.degree(polynomial, g) >= exponent.q
        ):
            collected = sp.Poly(polynomial, g)
            terms = (
                c * base ** (m // exponent.q) * g ** (m % exponent.q)
                for (m,), c in collected.terms()
            )
            return reduced(sp.Add(*terms))
    return polynomial


@cache
def is_zero(expression: sp.Expr) -> bool:
    """Return whether `expression` is identically zero."""
    if expression.atoms(sp.Sum):
        return _sum_is_zero(expression)
    if sp.count_ops(expression) > LONG and _vanishes(_abbreviated(expression)):
        return True
    return _vanishes(expression)


def _vanishes(expression: sp.Expr) -> bool:
    numerator, _ = sp.fraction(sp.together(canonical(expression)))
    return bool(reduced(numerator) == 0)


def _abbreviated(expression: sp.Expr) -> sp.Expr:
    """Return `expression` with letters for what it repeats: if that is zero, so is this."""
    _, (short,) = sp.cse([expression], symbols=iter(sp.Dummy, None))
    return short


def _sum_is_zero(expression: sp.Expr) -> bool:
    """Decide ``rest + c_1 Sum_1 + c_2 Sum_2 + ... = 0``, all sums over the same k = 0..H-1.

    Either the terms and the rest vanish, or the rest is minus a closed form: induction on H.
    """
    sums = sorted(expression.atoms(sp.Sum), key=str)
    marks = [sp.Dummy() for _ in sums]
    linear = sp.expand(expression.xreplace(dict(zip(sums, marks, strict=True))))
    factors = [linear.coeff(mark) for mark in marks]
    rest = linear - sp.Add(*(c * mark for c, mark in zip(factors, marks, strict=True)))
    limits = sums[0].limits
    if any(total.limits != limits for total in sums) or sp.expand(rest).free_symbols & {*marks}:
        return False
    index, low, high = limits[0]
    term = sp.Add(*(c / factors[0] * x.function for c, x in zip(factors, sums, strict=True)))
    if is_zero(term):
        return is_zero(rest)
    count = high + 1
    if low != 0 or not count.is_Symbol or term.has(count):
        return False
    closed = -rest / factors[0]
    step = closed.subs(count, count + 1) - closed - term.subs(index, count)
    return is_zero(step) and is_zero(closed.subs(count, 1) - term.subs(index, 0))


def evaluated(expression: sp.Expr) -> sp.Expr:
    """Carry out the sums of `expression` whose range is a number, or whose terms vanish."""
    done = {
        total: total.doit()
        for total in expression.atoms(sp.Sum)
        if total.function == 0 or all(bound.is_Integer for bound in total.limits[0][1:])
    }
    return expression.xreplace(done)


@cache
def _number(letter: sp.Symbol, seed: int) -> sp.Rational:
    draw = random.Random(f"{letter} {seed}")
    small = sp.Rational(draw.randint(5, 30), 97)
    return sp.Integer(draw.randint(2, 6)) if letter.is_integer else small


@cache
def at_point(expression: sp.Expr, seed: int) -> sp.Expr:
    """Return the exact value of `expression`: counts are 2 to 6, other letters below 1/3."""
    point = {x: _number(x, seed) for x in expression.free_symbols}
    return expression.subs(point).doit()


def same(left: sp.Expr, right: sp.Expr) -> bool:
    """Return whether two bounds are one: at random points, and as polynomials over generators."""
    for seed in range(2):
        value = at_point(left, seed) - at_point(right, seed)
        if value.has(sp.nan, sp.zoo):
            return False
        if value != 0 and not abs(sp.N(value, 50)) < sp.Float("1e-40", 50):
            return False
    return is_zero(left - right)
