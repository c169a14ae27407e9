"""The best step size, what the bound is worth there, and how that falls with T and n.

Two shapes occur. A bound that is at most ``b/(gam T) + c gam + e gam^2`` for ``gam <= limit`` takes
``gam = min(limit, (b/(c T))^(1/2), (b/(e T))^(1/3))``: each step g_p = (b/(c_p T))^(1/(p+1)) makes
its own term equal to b/(g_p T), and 1/min is at most the sum of reciprocals, so the value is
``b/(limit T) + 2 sum_p c_p g_p^p`` (the tuning lemma of Koloskova et al. 2020). A bound that is at
most ``(1 - gam mu)^T R2 + gam v/mu + ...`` takes gam = log(K)/(mu T), where exp(-gam mu T) = 1/K.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import sympy as sp

from theory.algebra import is_zero
from theory.derivation import Refused
from theory.positivity import Domain
from theory.symbols import symbol
from theory.theorem import Theorem, Tuned

__all__ = ["K", "Prepare", "as_stated", "below", "enlarge", "log_step", "longest_step"]
__all__ += ["power_step", "rates"]

n, T, gam, mu, R2 = (symbol(x) for x in ("n", "T", "gam", "mu", "R2"))
sigma2 = symbol("sigma2")


def forgetting(noise: sp.Expr) -> sp.Expr:
    """Return by how much |x - x*|^2 must shrink until a noise of `noise` / n hides the rest."""
    return mu**2 * R2 * n * T / noise


K = forgetting(sigma2)

Compute = Callable[[Theorem], tuple[sp.Expr, sp.Expr]]
Prepare = Callable[[sp.Expr, Domain], sp.Expr]


def enlarge(*pairs: tuple[sp.Expr, sp.Expr]) -> Prepare:
    """Return a step that replaces each `old` by a `new` >= old, in which the bound is monotone."""

    def prepare(bound: sp.Expr, domain: Domain) -> sp.Expr:
        for old, new in pairs:
            mark = sp.Dummy("m", positive=True)
            marked = bound.subs(old, mark)
            if not marked.has(mark):
                raise Refused(f"{old} does not occur in {bound}")
            if not domain.nonnegative(new - old) or not domain.nonnegative(sp.diff(marked, mark)):
                raise Refused(f"{old} may not be enlarged to {new}")
            bound = marked.subs(mark, new)
        return bound

    return prepare


def as_stated(bound: sp.Expr, domain: Domain) -> sp.Expr:
    """Return the bound as it is."""
    return bound


def below(larger: sp.Expr) -> Prepare:
    """Return a step that replaces the bound by `larger`, after proving that it is."""

    def prepare(bound: sp.Expr, domain: Domain) -> sp.Expr:
        if not domain.nonnegative(larger - bound):
            raise Refused(f"{larger} is not proved to exceed {bound}")
        return larger

    return prepare


def _prepared(theorem: Theorem, limit: sp.Expr, prepare: Prepare) -> sp.Expr:
    """Return the prepared bound for gam <= limit, after checking that the theorem holds there."""
    domain = Domain([sp.Le(gam, limit)])
    for condition in theorem.conditions:
        if not isinstance(condition, sp.Eq) and not domain.implies(condition):
            raise Refused(f"gam <= {limit} does not imply {condition}")
    return prepare(domain.resolve(theorem.written(theorem.bound)), domain)


def power_step(limit: sp.Expr, prepare: Prepare = as_stated) -> Compute:
    """Tune b/(gam T) + c gam + e gam^2 for gam <= limit."""

    def compute(theorem: Theorem) -> tuple[sp.Expr, sp.Expr]:
        terms = sp.Add.make_args(_prepared(theorem, limit, prepare))
        scaled = sp.Add(*(term * gam * T for term in terms))
        b, *rest = (sp.diff(scaled, gam, i).subs(gam, 0) / sp.factorial(i) for i in range(4))
        cs = [c / T for c in rest]
        shape = b + T * sum(c * gam**i for i, c in enumerate(cs, start=1))
        if cs[0] != 0 or any(c.has(T) for c in (b, *cs)) or not is_zero(scaled - shape):
            raise Refused(f"{scaled / (gam * T)} is not of the form b/(gam T) + c gam + e gam^2")
        steps, value = [limit], b / (limit * T)
        for p, c in ((p, c) for p, c in enumerate(cs) if c != 0):
            mark = sp.Dummy("c", positive=True)
            best = (b / (mark * T)) ** sp.Rational(1, p + 1)
            if not is_zero(mark * best**p - b / (best * T)):
                raise Refused(f"the step {best} does not balance its term")
            steps.append(best.xreplace({mark: c}))
            value += (2 * mark * best**p).xreplace({mark: c})
        return sp.Min(*steps, evaluate=False), value

    return compute


def longest_step(limit: sp.Expr, letters: Mapping[sp.Symbol, sp.Expr]) -> Compute:
    """Take the largest step, where there is no noise and the bound falls with gam.

    `letters` are replaced so that what has to be proved has no roots.
    """

    def compute(theorem: Theorem) -> tuple[sp.Expr, sp.Expr]:
        bound, domain = theorem.written(theorem.bound), Domain([sp.Le(gam, limit.subs(letters))])
        for condition in theorem.conditions:
            if not domain.implies(condition.subs(letters)):
                raise Refused(f"gam <= {limit} does not imply {condition}")
        if not domain.nonnegative(-sp.diff(bound, gam).subs(letters)):
            raise Refused(f"{bound} is not proved to fall with gam")
        return limit, bound.subs(gam, limit)

    return compute


def log_step(limit: sp.Expr, prepare: Prepare = as_stated, noise: sp.Expr = sigma2) -> Compute:
    """Tune (1 - gam mu)^T R2 + terms in gam, for gam = log(K)/(mu T) <= limit.

    K = mu^2 R2 n T / noise makes the first term noise/(n mu^2 T); (1 - x)^T <= exp(-x T) because
    the exponential lies above its tangent (axiom `exponential`).
    """

    def compute(theorem: Theorem) -> tuple[sp.Expr, sp.Expr]:
        bound = _prepared(theorem, limit, prepare)
        forgotten = sp.Dummy("m", positive=True)
        marked = bound.subs((1 - gam * mu) ** T, forgotten)
        if not is_zero(sp.diff(marked, forgotten) - R2):
            raise Refused(f"{bound} is not of the form (1 - gam mu)^T R2 + ...")
        step = sp.log(forgetting(noise)) / (mu * T)
        return step, marked.subs(forgotten, sp.exp(-gam * mu * T)).subs(gam, step)

    return compute


def _exponent(term: sp.Expr, letter: sp.Symbol) -> sp.Expr:
    """Return the limit of letter * term' / term as T grows, factor by factor."""
    total = sp.Integer(0)
    for factor in sp.Mul.make_args(term):
        base, exponent = factor.as_base_exp()
        if base.has(letter):
            slope = letter * sp.diff(base, letter) / base
            total += exponent * sp.limit(sp.cancel(sp.together(slope)), T, sp.oo)
    return sp.cancel(total)


def rates(tuned: Tuned) -> tuple[sp.Expr, sp.Expr]:
    """Return the exponents of T and n in the tuned value for large T.

    Raises
    ------
    Refused
        If terms of the same order in T fall differently with n.
    """
    terms = [(_exponent(term, T), term) for term in sp.Add.make_args(tuned.value)]
    leading = max(exponent for exponent, _ in terms)
    with_n = {_exponent(term, n) for exponent, term in terms if exponent == leading}
    if len(with_n) != 1:
        raise Refused(f"no single exponent of n: {with_n}")
    return leading, with_n.pop()
