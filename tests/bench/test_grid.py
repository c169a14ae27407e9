from __future__ import annotations

from fractions import Fraction
from math import inf

import pytest
from rich.console import Console

from bench.grid import Table, curve_of, round_up, suboptimality
from bench.judge import Outcome, Verdict
from bench.tables import Line, exact, number, variants_table, verdicts_table
from bench.variants import NAMED, entry, grid_of
from mpiddl.problems import problem
from mpiddl.record import COLUMNS

ENTRIES = tuple(entry(name) for name in ("bsp", "local-4", "top-k"))
ISO = problem("iso", 4, 0)


@pytest.fixture(scope="module")
def found(simulated):
    table = Table(ENTRIES, ISO, 16, (0.1, 1.0, 3.0))
    return table, simulated(table.jobs())


def test_all_variants_make_the_same_number_of_gradients(found):
    for job in found[0].jobs():
        assert job.run.clocks * job.run.variant.sync.period == 16


def test_the_budget_is_rounded_up_to_what_all_can_make():
    assert round_up(30, [entry(name) for name in NAMED]) == 32
    assert round_up(32, [entry(name) for name in NAMED]) == 32
    assert round_up(7, [entry("bsp")]) == 7
    assert round_up(7, [entry("local:3 / allreduce / identity / whole / sgd:1")]) == 9


def test_the_best_run_is_chosen_and_one_at_the_edge_is_marked(found):
    table, outcomes = found
    for row in table.rows(outcomes):
        every = [suboptimality(outcomes["table", row.entry, gam]) for gam in table.grid]
        assert row.suboptimality == min(every) < inf
        assert row.edge is (row.gam in (0.1, 3.0))


def test_a_run_that_diverges_is_never_the_best(simulated):
    table = Table([entry("bsp")], ISO, 800, (0.5, 20.0))
    outcomes = simulated(table.jobs())
    assert outcomes["table", entry("bsp"), 20.0].diverged
    assert suboptimality(outcomes["table", entry("bsp"), 20.0]) == inf
    assert table.rows(outcomes)[0].gam == 0.5


def test_a_line_with_its_own_step_size_is_run_once_and_never_marked(simulated):
    fixed = entry("bsp / allreduce / identity / whole / sgd:0.25")
    table = Table([fixed], ISO, 4, (0.1, 1.0))
    rows = table.rows(simulated(table.jobs()))
    assert [(row.gam, row.edge) for row in rows] == [(None, False)]


def test_a_curve_has_all_columns_of_one_length(found):
    outcome = next(iter(found[1].values()))
    curve = curve_of(outcome, True, {"virtual_seconds": [0.0]})
    assert curve["n"] == 4
    assert set(COLUMNS) < set(curve)
    assert len({len(curve[name]) for name in COLUMNS}) == 1


def test_grids_scale_with_the_smoothness():
    assert grid_of(problem("iso", 2, 0, L=4.0)) == tuple(g / 4 for g in grid_of(ISO))
    assert len(grid_of(problem("breast_cancer", 2, 0))) >= 3


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(372), "372"),
        (Fraction(961, 2), "480.5"),
        (Fraction(992, 3), "992/3"),
        (Fraction(123456789), "123,456,789"),
        (Fraction(1, 8), "0.125"),
        (Fraction(1, 16), "1/16"),
    ],
)
def test_rational_numbers_are_shown_exactly(value, text):
    assert exact(value) == text


def test_numbers_are_short_and_nan_is_a_dash():
    assert [number(x) for x in (1.0, -0.98765, float("nan"), inf, 1e-20)] == [
        *("1", "-0.9877", "-", "inf", "1e-20"),
    ]


def shown(thing: object) -> str:
    console = Console(width=100, file=open("/dev/null", "w"), record=True)
    console.print(thing)
    return console.export_text()


def test_a_table_marks_the_best_and_what_differs_and_fits(found):
    rows = found[0].rows(found[1])
    lines = [Line(row, row.measured, True, 1.0, False) for row in rows]
    text = shown(variants_table(lines, "10gbe"))
    best = min(row.suboptimality for row in rows)
    starred = [line for line in text.splitlines() if line.strip().startswith("*")]
    assert len(starred) == sum(row.suboptimality == best for row in rows)
    assert "DIFFERS" not in text
    wrong = [Line(rows[0], rows[0].measured + 1, False, float("nan"), True), *lines[1:]]
    text = shown(variants_table(wrong, "10gbe"))
    assert "DIFFERS" in text
    assert "^" in text


@pytest.mark.parametrize("outcome", Outcome)
def test_a_verdict_says_its_outcome_in_words(outcome):
    verdict = Verdict("a [claim]", "a theorem", 1.0, 0.5, 0.4, 0.6, outcome, "a reason")
    text = shown(verdicts_table([verdict]))
    for part in ("a [claim]", "a theorem: a reason", "[0.4, 0.6]", outcome.value):
        assert part in text
