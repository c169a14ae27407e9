"""The web of limits is proved, and a wrong thread tears."""

from __future__ import annotations

from dataclasses import replace

import pytest

from theory.catalogue import THEOREMS
from theory.limits import objection, web
from theory.statement import Kind
from theory.symbols import symbol
from theory.theorem import Limit

T, H, n, gam, L, lam, delta, zeta2 = (
    symbol(x) for x in ("T", "H", "n", "gam", "L", "lam", "delta", "zeta2")
)

LIMITS = [
    pytest.param(theorem, limit, id=f"{theorem.name}-{i}-{limit.to}")
    for theorem in THEOREMS.values()
    for i, limit in enumerate(theorem.limits)
]

SHORT = (gam * L <= 1,)

# Values for a numeric second look at every limit.
POINT = {"n": 6, "T": 24, "H": 3, "gam": 0.01, "L": 1.0, "mu": 0.2, "Delta": 1.0, "R2": 2.0}
POINT |= {"Lmax": 2.0, "ss": 0.7, "omega": 1.5, "Ltil": 1.2, "G0": 0.7}
POINT |= {"sigma2": 1.5, "zeta2": 0.5, "lam": 0.4, "delta": 0.6, "a": 9.0, "C0": 1.0}
POINT |= {"G2": 3.0, "mom": 0.3, "tau": 2.0, "Tp": 6, "m": 1, "nu": 0.5, "Fd": 1.5}
POINT |= {"zs": 0.4, "neg": 0, "skew": 1.5}
POINT |= {"s": 1, "Pw": 3, "taumax": 6, "tauC": 2, "tauavg": 2}


def number(theorem, substitution):
    """Return the bound at POINT after the limit."""
    point = {symbol(name): value for name, value in POINT.items()}
    moved = {str(x): float(v.subs(point)) for x, v in substitution.items() if hasattr(v, "subs")}
    moved |= {str(x): v for x, v in substitution.items() if not hasattr(v, "subs")}
    return theorem.at(**POINT | moved)


@pytest.mark.parametrize(("theorem", "limit"), LIMITS)
def test_limit(theorem, limit):
    assert objection(theorem, limit) == ""
    target = limit.substitution if limit.target is None else limit.target
    left, right = number(theorem, limit.substitution), number(THEOREMS[limit.to], target)
    if limit.kind is Kind.EQUALS:
        assert left == pytest.approx(right, rel=1e-12)
    else:
        assert left >= right * (1 - 1e-12)


@pytest.mark.parametrize(("theorem", "limit"), LIMITS)
def test_a_doubled_bound_does_not_equal(theorem, limit):
    wrong = replace(theorem, bound=2 * theorem.bound)
    if limit.kind is Kind.EQUALS:
        assert objection(wrong, limit)
    else:
        assert objection(replace(theorem, bound=theorem.bound / 4), limit)


@pytest.mark.parametrize(
    ("name", "limit", "why"),
    [
        ("local-sgd-nonconvex", Limit("bsp-nonconvex", {H: 1}), "is not"),
        ("local-sgd-nonconvex", Limit("bsp-nonconvex", {H: 2}), "is not"),
        ("bsp-nonconvex", Limit("local-sgd-nonconvex", {H: 1}, Kind.IMPLIED_BY, SHORT), "exceed"),
        ("bsp-nonconvex", Limit("bsp-convex", {}), "GRADSQ_X is not GAP"),
        ("bsp-nonconvex", Limit("local-sgd-nonconvex-iid", {}, target={H: 1}), "needs"),
        ("dpsgd-nonconvex-atc", Limit("local-sgd-nonconvex", {lam: 0}, target={H: 2}), "needs"),
        ("ef-sgd-nonconvex", Limit("bsp-nonconvex", {delta: 1}), "is not"),
        ("dpsgd-nonconvex-atc", Limit("bsp-nonconvex", {gam: 2 / L}), "exclude"),
    ],
)
def test_a_wrong_limit_is_refused(name, limit, why):
    assert why in objection(THEOREMS[name], limit)


def test_every_theorem_is_in_the_web():
    text = web()
    assert "not proved" not in text
    named = {limit.to for theorem in THEOREMS.values() for limit in theorem.limits}
    assert all(theorem.limits or theorem.name in named for theorem in THEOREMS.values())
    assert text.count("\n") + 1 == len(LIMITS)
