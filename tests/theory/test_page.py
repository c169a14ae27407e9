"""What a stranger reads of a theorem."""

from __future__ import annotations

import re
from io import StringIO

import pytest
import sympy as sp
from rich.console import Console

from theory.catalogue import THEOREMS
from theory.forms import Claim, Form, Scalar
from theory.page import abbreviated, legend, show
from theory.symbols import MEANING, symbol

gam, L, lam, n = (symbol(x) for x in ("gam", "L", "lam", "n"))


@pytest.mark.parametrize("name", ["gd-convex", "local-sgd-convex-iid"])
def test_a_page_is_whole(name: str) -> None:
    out = StringIO()
    show(Console(file=out, width=100), THEOREMS[name])
    page = out.getvalue()
    assert "_(" not in page, "no letters of the engine's own"
    assert "FAILS" not in page
    assert page.count("\nstep ") > 10
    assert f"theorem     {name}" in page


@pytest.mark.parametrize("name", THEOREMS)
def test_every_letter_of_a_formula_is_explained(name: str) -> None:
    theorem = THEOREMS[name]
    explained = dict(legend(theorem))
    for letter in theorem.written(theorem.bound).free_symbols & set(map(symbol, MEANING)):
        assert str(letter) in explained or any(v.has(letter) for v in theorem.where.values())
    assert all(text.startswith(MEANING[letter]) for letter, text in explained.items())


def test_ranges_that_say_something_are_shown() -> None:
    explained = dict(legend(THEOREMS["bsp-sc-sampling"]))
    assert explained["Lmax"].endswith("(Lmax >= L)")
    assert explained["gam"] == MEANING["gam"]


def test_what_is_long_and_occurs_twice_gets_a_name() -> None:
    long = sp.sqrt((1 - 1 / n) / (1 - (lam + gam * L) ** 2))
    names, (first, second) = abbreviated((gam * long, 1 + long**2))
    (name,) = names
    assert str(name) == "c1"
    assert first.has(name)
    assert second.has(name)
    assert sp.simplify(first.xreplace(names) - gam * long) == 0
    assert abbreviated((gam * L, 1 + gam * L)) == ({}, (gam * L, 1 + gam * L))


def test_claims_have_few_minus_signs() -> None:
    X, Y = Scalar("X"), Scalar("f(y) - f*")
    claim = Claim(Form({X: (-4 * gam - 2) / L, Y: gam}))
    assert str(claim) == "2*(2*gam + 1)/L X <= gam (f(y) - f*)"
    assert not re.search(r"\(-", str(claim))
