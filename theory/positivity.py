"""Proofs of signs: change variables until the domain is an orthant, then look at coefficients.

A condition ``P <= Q`` is used by solving ``P (1 + s) = Q`` with a new letter s >= 0, so that
``gam L <= 1`` becomes ``gam = 1 / (L (1 + s))`` and covers exactly the points where it holds. After
all conditions are used, an expression is a quotient of polynomials in letters that are free to be
any non-negative number, and it is non-negative if no coefficient is negative. The test is
one-sided: True is a proof, False means that this method found none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import sympy as sp

from theory.algebra import GENERATORS, canonical, reduced
from theory.symbols import LOCALS, RANGE

__all__ = ["Domain"]

# Letters that may be zero: an expression that vanishes with one of them is not strictly positive.
_MAY_VANISH = set(
    "t k Delta R2 Fd sigma2 ss zeta2 G2 lam nu mom tau Tp C0 G0 omega s taumax tauC tauavg zs "
    "neg".split()
)
# A condition is solved for the first of these letters for which that can be done.
_SOLVE_FOR = "gam lam nu delta mom mu Lmax a n H T k Delta Pw taumax tauC tau G2 neg skew".split()


def _split(polynomial: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Write a polynomial as P - M, both with positive coefficients."""
    terms = sp.Add.make_args(sp.expand(polynomial))
    minus = [t for t in terms if t.as_coeff_Mul()[0] < 0]
    return sp.Add(*(t for t in terms if t not in minus)), -sp.Add(*minus)


def _ranges(letters: set[sp.Symbol]) -> list[sp.Rel]:
    """Return what `theory.symbols.RANGE` says about `letters`, apart from x > 0 and x >= 0."""
    facts = [c for x in sorted(letters, key=str) for c in RANGE.get(str(x), ())]
    return [c for c in facts if c.lts != 0]


class Domain:
    """The set of points where all `conditions` hold, with the ranges of the letters they use.

    Parameters
    ----------
    conditions : iterable of Relational
        Conditions that cannot be solved are kept as facts: their slack is known to be positive.
    """

    def __init__(self, conditions: Iterable[sp.Rel] = ()) -> None:
        self.conditions = tuple(dict.fromkeys(conditions))
        self._parts: dict[tuple[sp.Rel, ...], Domain] = {}
        usable = [c for c in self.conditions if isinstance(c, (sp.Le, sp.Lt, sp.Ge, sp.Gt))]
        ranges = _ranges(set().union(*(c.free_symbols for c in usable)))
        # The order decides whether a letter can be isolated: take the one that leaves fewest facts.
        orders = [[*usable, *ranges], [*ranges, *reversed(usable)], [*ranges, *usable]]
        for order in orders:
            self._begin()
            self._use(order)
            if not self._facts:
                break
        self._ranged = set().union(*(c.free_symbols for c in order))

    def _begin(self) -> None:
        self._map: dict[sp.Symbol, sp.Expr] = {}
        self._weak: set[sp.Symbol] = {LOCALS[x] for x in _MAY_VANISH}
        self._fresh: list[sp.Symbol] = []
        self._closed: set[sp.Symbol] = set()  # stand for powers that may be 0: no strict proofs
        self._facts: list[tuple[sp.Expr, bool]] = []
        self._signs: dict[tuple[sp.Expr, bool], bool] = {}

    def also(self, *conditions: sp.Rel) -> Domain:
        """Return the part of the domain where `conditions` hold too."""
        if conditions not in self._parts:
            self._parts[conditions] = Domain((*self.conditions, *conditions))
        return self._parts[conditions]

    def _use(self, conditions: Sequence[sp.Rel]) -> None:
        for condition in conditions:
            slack = condition.gts - condition.lts
            strict = isinstance(condition, (sp.Lt, sp.Gt))
            if not self._known(slack, strict) and not self._solve(slack, strict):
                self._facts.append((slack, strict))

    def _solve(self, slack: sp.Expr, strict: bool) -> bool:
        """Eliminate one letter so that `slack` >= 0 holds by construction."""
        top, bottom = sp.fraction(sp.together(self._written(slack)))
        plus, minus = _split(top)
        below = _split(bottom)
        if below[0] == 0:
            plus, minus = minus, plus
        elif below[1] != 0:
            return False
        s = sp.Dummy("s", positive=True)
        for x in (*(LOCALS[name] for name in _SOLVE_FOR), *self._fresh):
            if x in self._map or not (plus - minus).has(x):
                continue
            if sp.degree(plus, x) > 1 or sp.degree(minus, x) > 1:
                continue
            (p1, p0), (m1, m0) = ((sp.diff(e, x), e.subs(x, 0)) for e in (plus, minus))
            if p1 == 0 and m0 == 0 and strict >= (x in self._weak):  # m1 x <= p0
                value = p0 / m1 * (s if x in self._weak else 1) / (1 + s)
            elif m1 == 0 and p0 == 0:  # minus <= p1 x
                value = minus / p1 * (1 + s)
            else:
                continue
            if not strict or x in self._weak:
                self._weak.add(s)
            self._fresh.append(s)
            self._map = {y: e.xreplace({x: value}) for y, e in self._map.items()} | {x: value}
            return True
        return False

    def _written(self, expression: sp.Expr) -> sp.Expr:
        """Write `expression` in the free letters; powers and roots become letters with a range."""
        top, bottom = sp.fraction(sp.together(canonical(expression)))
        expression = reduced(top) / reduced(bottom)
        for g in sorted(expression.free_symbols & GENERATORS.keys(), key=str):
            if g in self._map or g in self._weak:
                continue
            base, exponent = GENERATORS[g]
            self._weak.add(g)
            s = sp.Dummy("s", positive=True)
            if self._known(1 - base, False) and self._known(base, False):
                self._map[g] = 1 / (1 + s)
                if not self._known(base, True):
                    self._closed.add(s)
            elif not exponent.is_Rational and self._known(base - 1, False):
                self._map[g] = 1 + s
            self._weak.add(s)
        return self._reduced(expression.xreplace(self._map))

    @staticmethod
    def _reduced(expression: sp.Expr) -> sp.Expr:
        """Use g^6 = x for roots g: the map may have put one beside its x."""
        roots = (g for g in expression.free_symbols & GENERATORS.keys())
        if not any(GENERATORS[g][1].is_Rational for g in roots):
            return expression
        top, bottom = sp.fraction(sp.together(expression))
        return reduced(top) / reduced(bottom)

    def _orthant(self, expression: sp.Expr) -> int:
        """Return 1 if `expression` > 0 for sure, 0 if >= 0 for sure, -1 if unknown."""
        numerator, denominator = sp.fraction(sp.cancel(sp.together(expression)))
        signs = []
        for part in (numerator, denominator):
            plus, minus = _split(part)
            if plus != 0 and minus != 0:
                return -1
            signs.append(plus - minus)
        if signs[0] == 0:
            return 0
        if (_split(signs[0])[1] == 0) != (_split(signs[1])[1] == 0):
            return -1
        monomials = sp.Add.make_args(signs[0])
        return int(any(not m.free_symbols & self._weak for m in monomials))

    def _known(self, expression: sp.Expr, strict: bool) -> bool:
        written = self._written(expression)
        for g in written.free_symbols & GENERATORS.keys():  # a power of what may be negative
            if not self._known(GENERATORS[g][0], False):
                return False
        if strict and written.free_symbols & self._closed:
            return False
        if self._orthant(written) >= int(strict):
            return True
        for fact, fact_strict in self._facts:
            if fact_strict >= strict and self._orthant(written / self._written(fact)) == 1:
                return True
        return False

    def nonnegative(self, expression: sp.Expr, *, strict: bool = False) -> bool:
        """Return whether `expression` >= 0 (> 0 if `strict`) is proved on the domain."""
        key = (sp.sympify(expression), strict)
        if key not in self._signs:
            new = _ranges(key[0].free_symbols - self._ranged)
            self._ranged |= key[0].free_symbols
            self._use(new)
            self._signs[key] = self._known(key[0], strict)
        return self._signs[key]

    def implies(self, condition: sp.Rel) -> bool:
        """Return whether `condition` is proved on the domain."""
        if condition in self.conditions or condition == sp.true:
            return True
        if not isinstance(condition, (sp.Le, sp.Lt, sp.Ge, sp.Gt)):
            return False
        strict = isinstance(condition, (sp.Lt, sp.Gt))
        return self.nonnegative(condition.gts - condition.lts, strict=strict)

    def resolve(self, expression: sp.Expr) -> sp.Expr:
        """Replace every Abs, Max and Min whose winner is proved on the domain."""

        def absolute(x: sp.Expr) -> sp.Expr:
            return x if self.nonnegative(x) else -x if self.nonnegative(-x) else sp.Abs(x)

        def largest(*args: sp.Expr) -> sp.Expr:
            signed = [
                z for x in args for z in ((x.args[0], -x.args[0]) if x.func is sp.Abs else (x,))
            ]
            for x in signed:
                if all(self.nonnegative(x - y) for y in signed):
                    return x
            return sp.Max(*args)

        def smallest(*args: sp.Expr) -> sp.Expr:
            return -largest(*(-x for x in args))

        for kind, rule in ((sp.Max, largest), (sp.Min, smallest), (sp.Abs, absolute)):
            expression = expression.replace(kind, rule)
        return expression
