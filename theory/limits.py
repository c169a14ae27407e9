"""The web of limits: which theorem becomes which when H = 1, lam = 0, delta = 1, n = 1, ...

A limit is proved, not sampled: EQUALS by an exact zero test, IMPLIED_BY by the sign of the
difference of the two bounds on the domain of the first theorem. ``python -m theory.limits`` prints
the web.
"""

from __future__ import annotations

import sympy as sp

from theory.algebra import evaluated, same
from theory.catalogue import THEOREMS
from theory.positivity import Domain
from theory.statement import Kind
from theory.theorem import Limit, Theorem

__all__ = ["objection", "web"]


def objection(theorem: Theorem, limit: Limit) -> str:
    """Return why `limit` is not proved; empty if it is."""
    target = THEOREMS[limit.to]
    if theorem.measure.quantity != target.measure.quantity:
        return f"{theorem.measure.name} is not {target.measure.name}"
    here = dict(limit.substitution)
    there = here if limit.target is None else dict(limit.target)
    conditions = [c.subs(here) for c in (*theorem.conditions, *limit.assuming)]
    if sp.false in conditions:
        return "the conditions exclude the limit"
    domain = Domain(c for c in conditions if c != sp.true)
    for condition in target.requirements:
        wanted = condition.subs(there)
        if wanted != sp.true and not domain.implies(wanted):
            return f"{limit.to} needs {wanted}"
    left, right = (
        domain.resolve(evaluated(side.written(side.bound).subs(values)))
        for side, values in ((theorem, here), (target, there))
    )
    if limit.kind is Kind.EQUALS:
        return "" if same(left, right) else f"{left} is not {right}"
    return "" if domain.nonnegative(left - right) else f"{left} is not proved to exceed {right}"


def web() -> str:
    """Return the web of limits as text, one line a limit."""
    lines = []
    for theorem in THEOREMS.values():
        for limit in theorem.limits:
            at = ", ".join(f"{x} = {v}" for x, v in limit.substitution.items())
            verdict = objection(theorem, limit) or "proved"
            lines.append(f"{theorem.name} at {at} {limit.kind.value} {limit.to}: {verdict}")
    return "\n".join(lines)


if __name__ == "__main__":
    print(web())
