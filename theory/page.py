"""A theorem as a page: what it says, when, in which letters, and how it is derived."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sympy as sp
from rich.console import Console

from theory.check import check
from theory.symbols import MEANING, RANGE, symbol
from theory.theorem import Theorem, Tuned

__all__ = ["abbreviated", "legend", "show"]

# How a formula is drawn: sigma2 is the square of sigma, not its second index.
_DRAWN = {
    symbol(letter): sp.Symbol(shown, positive=True)
    for letter, shown in {
        "sigma2": "sigma^2",
        "zeta2": "zeta^2",
        "R2": "R^2",
        "G2": "G^2",
        "gam": "gamma",
        "lam": "lambda",
        "Lmax": "L_max",
    }.items()
}

LONG = 25  # characters: what occurs twice and is longer gets a name of its own

STEPS = (
    "Steps: claim [why; proved by machine, sampled on random instances, or assumed].",
    "|.|^2 is E|.|^2, and a mean over workers; .~ is by how much a worker differs from the mean;",
    ".' comes after the step; z = x - x* (z~: of the models), g gradients, h = grad f(mean model),",
    "xi their noise, F = E f - f*. bound(q) is what was shown to bound q.",
    "Other letters stand for vectors of which nothing is known but what the steps say.",
)


def show(console: Console, theorem: Theorem) -> None:
    """Print `theorem` as a page."""
    source = theorem.source
    reference = f" ({source.reference})" if source.reference else ""

    def line(title: str, text: object) -> None:
        console.print(f"{title:<11} {text}", markup=False, highlight=False)

    line("theorem", theorem.name)
    line("source", f"{source.authors}, {source.year}, {source.title}{reference}")
    line("statement", theorem.statement)
    for assumption in sorted(theorem.assumes, key=lambda one: one.name):
        line("assumes", assumption.value)
    for condition in theorem.conditions:
        line("condition", _condition(condition))
    line("bounds", theorem.measure.value)
    line("by", theorem.bound)
    drawn = sp.pretty(theorem.bound.subs(_DRAWN, simultaneous=True), num_columns=console.width)
    console.print(drawn, markup=False, highlight=False)
    for letter, meaning in theorem.where.items():
        line("where", f"{letter} = {meaning}")
    for title, text in _recommended(theorem.tuned):
        line(title, text)
    for letter, text in legend(theorem):
        line("letter", f"{letter:<6} {text}")
    report = check(theorem, mutants=False)
    console.print(*STEPS, sep="\n", markup=False, highlight=False)
    for number, step in enumerate(report.steps, 1):
        line(f"step {number}", f"{step.claim}   [{step.because}; {step.status.value}]")
    for limit, proved in report.limits:
        here, there = _at(limit.substitution, "at"), _at(limit.target, "with")
        said = f"{here} {limit.kind.value} {limit.to} {there}".strip()
        line("limit", f"{said}; {'proved' if proved else 'FAILS'}")


def _condition(condition: sp.Rel) -> str:
    """Return a condition in words, if it says that H divides something."""
    for rest in condition.atoms(sp.Mod):
        return f"{rest.args[1]} divides {rest.args[0]}"
    return str(condition)


def _recommended(tuned: Tuned | None) -> list[tuple[str, object]]:
    """Return the lines about the recommended step."""
    if tuned is None:
        return []
    names, (step, value) = abbreviated((tuned.step, tuned.value))
    lines: list[tuple[str, object]] = [("tuned gam", step), ("value", value)]
    lines += [("where", f"{name} = {meaning}") for name, meaning in names.items()]
    return [*lines, ("rate", f"T^({tuned.rate_T}) n^({tuned.rate_n})")]


def abbreviated(
    expressions: Sequence[sp.Expr],
) -> tuple[Mapping[sp.Symbol, sp.Expr], tuple[sp.Expr, ...]]:
    """Return names for what is long and occurs twice in `expressions`, and these in the names."""
    found, reduced = sp.cse(expressions, symbols=sp.numbered_symbols("c", start=1))
    names: dict[sp.Symbol, sp.Expr] = {}
    written: dict[sp.Symbol, sp.Expr] = {}
    for name, meaning in found:
        meaning = meaning.xreplace(written)
        if len(str(meaning)) > LONG:
            kept = sp.Symbol(f"c{len(names) + 1}", positive=True)
            names[kept], written[name] = meaning, kept
        else:
            written[name] = meaning
    return names, tuple(expression.xreplace(written) for expression in reduced)


def legend(theorem: Theorem) -> list[tuple[str, str]]:
    """Return the letters of the formulas of `theorem`: meaning and range; none is negative."""
    parts = [theorem.bound, *theorem.conditions, *theorem.where.values()]
    parts += [theorem.tuned.step, theorem.tuned.value] if theorem.tuned else []
    letters = {str(x) for part in parts for x in part.free_symbols}
    facts = {x: [fact for fact in RANGE.get(x, ()) if 0 not in fact.args] for x in letters}
    ranges = {x: ", ".join(map(str, facts[x])) for x in letters}
    return [
        (x, f"{meaning} ({ranges[x]})" if ranges[x] else meaning)
        for x, meaning in MEANING.items()
        if x in letters
    ]


def _at(values: Mapping[sp.Symbol, sp.Expr] | None, word: str) -> str:
    """Return ``at H = 1, zeta2 = 0``, or nothing for no values."""
    said = ", ".join(f"{letter} = {value}" for letter, value in (values or {}).items())
    return f"{word} {said}" if said else ""
