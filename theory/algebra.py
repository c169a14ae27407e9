"""Exact zero tests for bounds: rational functions with powers r**T, roots and finite sums.

`simplify` is slow and gives no promise. Here an expression is rewritten over *generators*, one per
irreducible base and exponent letter, ``(1-gam*mu)**(2*T+1) -> (1-gam*mu) * Y**2``, and one per root
of an irreducible polynomial; it is zero if the numerator over these generators is the zero
polynomial. A root of a product becomes a product of roots, which fixes each root up to its sign;
`same` therefore looks at random points as well, where signs show.
"""

from __future__ import annotations

import random
from functools import lru_cache

import sympy as sp

from theory.symbols import LOCALS

__all__ = ["GENERATORS", "canonical", "is_zero", "reduced", "same", "sample_point"]

# generator -> (base, exponent): its value is base**exponent
GENERATORS: dict[sp.Dummy, tuple[sp.Expr, sp.Expr]] = {}
_BY_VALUE: dict[tuple[sp.Expr, sp.Expr], sp.Dummy] = {}

# A point inside the domain of every theorem; it decides which of p, -p is called the base.
_REFERENCE = {"n": 8, "T": 96, "H": 4, "k": 3, "t": 5, "L": 2, "a": 40, "gam": "1/64", "mu": "1/4"}


def _generator(base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    key = (base, exponent)
    if key not in _BY_VALUE:
        _BY_VALUE[key] = sp.Dummy(f"({base})^({exponent})")
        GENERATORS[_BY_VALUE[key]] = key
    return _BY_VALUE[key]


@lru_cache(maxsize=None)
def _negative_at_reference(base: sp.Expr) -> bool:
    values = {LOCALS[name]: sp.Rational(value) for name, value in _REFERENCE.items()}
    for x in sorted(base.free_symbols, key=str):
        if x in GENERATORS:
            power_base, exponent = GENERATORS[x]
            values[x] = power_base.subs(values) ** exponent.subs(values)
        else:
            values.setdefault(x, sp.Rational(1, 2))
    return bool(sp.N(base.subs(values)) < 0)


@lru_cache(maxsize=None)
def _factors(expression: sp.Expr) -> tuple[sp.Rational, tuple[tuple[sp.Expr, int], ...]]:
    """Return the constant and the irreducible factors, each positive at the reference point."""
    numerator, denominator = sp.fraction(sp.together(expression))
    constant, factors = sp.Integer(1), []
    for part, direction in ((numerator, 1), (denominator, -1)):
        coefficient, found = sp.factor_list(part)
        constant *= coefficient**direction
        for base, multiplicity in found:
            flip = _negative_at_reference(base)
            constant *= (-1) ** multiplicity if flip else 1
            factors.append((sp.expand(-base) if flip else base, direction * multiplicity))
    return constant, tuple(factors)


def _power(base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    """Rewrite base**exponent, exponent a fraction or linear in integer letters."""
    constant, factors = _factors(canonical(base))
    parts = [(p, m) for p, m in factors]
    if constant != 1:
        parts.append((constant, 1))
    result = sp.Integer(1)
    for p, multiplicity in parts:
        for letter, weight in (exponent * multiplicity).expand().as_coefficients_dict().items():
            if letter == 1 and sp.Rational(weight).q == 1:
                result *= p**weight
            elif letter == 1:
                whole, rest = divmod(weight.p, weight.q)
                result *= p**whole * _generator(p, sp.Rational(1, weight.q)) ** rest
            else:
                result *= _generator(p, letter) ** (weight % 2 if p == -1 else weight)
    return result


@lru_cache(maxsize=None)
def canonical(expression: sp.Expr) -> sp.Expr:
    """Return `expression` over generators; functions other than powers stay as they are."""
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
        if exponent.is_Rational and polynomial.has(sp.Pow) and sp.degree(polynomial, g) >= exponent.q:
            collected = sp.Poly(polynomial, g)
            terms = (
                c * base ** (m // exponent.q) * g ** (m % exponent.q)
                for (m,), c in collected.terms()
            )
            return reduced(sp.Add(*terms))
    return polynomial


@lru_cache(maxsize=None)
def is_zero(expression: sp.Expr) -> bool:
    """Return whether `expression` is identically zero; sums over the same range are merged."""
    sums = expression.atoms(sp.Sum)
    if sums:
        marks = {total: sp.Dummy() for total in sums}
        linear = sp.expand(expression.xreplace(marks))
        merged: dict[object, sp.Expr] = {}
        for total, mark in marks.items():
            term = linear.coeff(mark) * total.function
            merged[total.limits] = merged.get(total.limits, 0) + term
            linear -= linear.coeff(mark) * mark
        linear = sp.expand(linear)
        inside = all(map(is_zero, merged.values()))
        return inside and not linear.free_symbols & set(marks.values()) and is_zero(linear)
    numerator, _ = sp.fraction(sp.together(canonical(expression)))
    return bool(reduced(numerator) == 0)


def sample_point(letters: set[sp.Symbol], seed: int) -> dict[sp.Symbol, sp.Rational]:
    """Return exact numbers for `letters`: small integers for counts, else fractions in (0, 1)."""
    draw = random.Random(seed)
    return {
        x: sp.Integer(draw.randint(2, 6)) if x.is_integer else sp.Rational(draw.randint(5, 30), 97)
        for x in sorted(letters, key=str)
    }


def same(left: sp.Expr, right: sp.Expr) -> bool:
    """Return whether two bounds are one: as polynomials over generators, and at random points."""
    difference = left - right
    if not is_zero(difference):
        return False
    for seed in range(3):
        point = sample_point(difference.free_symbols, seed)
        value = difference.subs(point).doit()
        if value != 0 and abs(sp.N(value, 50)) > sp.Float("1e-40", 50):
            return False
    return True
