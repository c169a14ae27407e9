"""Maps of critical parameters, and the problems that they are measured on."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from bench.bent import AtMinimum, Bent
from bench.claims.critical_staleness import DELTA, HORIZON, step
from bench.critical import Point, judged, lines
from bench.judge import Outcome, Subject
from mpiddl.problems.quadratic import iso
from mpiddl.problems.softplus import Softplus
from theory.bent import Bent as Exact
from theory.catalogue import THEOREMS

SUBJECT = Subject("a claim", "a theorem")
VALUES = (1, 2, 4, 8)
RISING = (1.0, 1.1, 1.2, 2.0)  # critical at 4


def seeds(*errors: float, noise: float = 1e-3) -> list[list[float]]:
    return [[errors[0], *(e * (1 + k * noise) for e in errors[1:])] for k in (-1, 0, 1)]


@pytest.mark.parametrize(
    ("bound", "exact", "outcome"),
    [
        ((1.0, 1.2, 1.3, 1.4), None, Outcome.HOLDS),  # promises 2
        ((1.0, 1.01, 1.02, 1.03), None, Outcome.FAILS),  # promises 8, which costs 2
        ((1.0, 1.2, inf, inf), RISING, Outcome.HOLDS),
        ((1.0, 1.2, inf, inf), (1.0, 1.1, 1.3, 2.0), Outcome.HOLDS),  # one step off
        ((1.0, 1.2, inf, inf), (1.0, 1.5, 1.6, 2.0), Outcome.FAILS),  # two steps off
    ],
)
def test_promises_are_kept_and_what_is_known_is_met_to_a_step(bound, exact, outcome):
    point = Point(2, VALUES, seeds(*RISING), bound, exact)
    assert judged(SUBJECT, [point], "").outcome is outcome


def test_one_point_that_is_wrong_fails_and_one_that_is_unclear_decides_nothing():
    right, wrong, unclear = (
        Point(2, VALUES, seeds(*RISING, noise=noise), bound)
        for noise, bound in (
            (1e-3, (1.0, 1.2, 1.3, 1.4)),
            (1e-3, (1.0, 1.0, 1.0, 1.0)),
            (0.2, (1.0, 1.2, 1.3, 1.4)),
        )
    )
    assert judged(SUBJECT, [right, right], "").outcome is Outcome.HOLDS
    assert judged(SUBJECT, [right, unclear], "").outcome is Outcome.UNDECIDED
    assert judged(SUBJECT, [right, unclear, wrong], "").outcome is Outcome.FAILS


def test_one_seed_decides_nothing():
    point = Point(2, VALUES, [list(RISING)], (1.0, 1.2, 1.3, 1.4))
    assert judged(SUBJECT, [point], "").outcome is Outcome.UNDECIDED


def test_a_run_that_diverged_costs_more_than_a_share():
    point = Point(2, VALUES, seeds(1.0, 1.1, inf, inf), (1.0, 1.1, 1.3, 1.4))
    assert point.measured() == (1, 1, 1)


def test_lines_have_the_measured_the_exact_and_the_promised_values():
    points = [Point(n, VALUES, seeds(*RISING), (1.0, 1.2, 1.3, 2.0), RISING) for n in (2, 4)]
    found = {one.kind: one.y for one in lines(points)}
    assert found == {"measured": (4.0, 4.0), "theory": (4.0, 4.0), "bound": (2.0, 2.0)}
    assert [one.kind for one in lines([Point(2, VALUES, seeds(*RISING), RISING)])] == [
        "measured",
        "bound",
    ]


@pytest.mark.parametrize("n", [2, 3, 6])
def test_functions_that_bend_are_those_of_the_theory(n):
    problem, exact = Bent(iso(n, 0, d=7, zeta2=4.0), 0.4), Exact(n, 0.4, 4.0, 1.0)
    assert problem.bends == pytest.approx(0.4 * exact.c)
    x = np.linspace(-1, 1, 7)
    slopes = [problem.full_gradient(x, worker) for worker in range(n)]
    assert np.mean(slopes, axis=0) == pytest.approx(x)
    out = np.empty(7)
    for worker, slope in enumerate(slopes):
        extra = problem.batch(worker, 3)[0]
        assert len(list(problem.gradient(x, (extra, worker), out))) == 2
        shift = problem.inner.full_gradient(np.zeros(7), worker)
        assert out - extra == pytest.approx(slope - shift)


def test_workers_start_where_the_gradient_is_zero():
    problem = AtMinimum(Softplus(3, 0))
    assert problem.full_gradient(problem.start()) == pytest.approx(np.zeros(10), abs=1e-12)


@pytest.mark.parametrize(("n", "sigma2"), [(2, 0.1), (16, 10.0), (64, 1e-3)])
def test_the_step_is_the_one_that_the_theorem_recommends(n, sigma2):
    tuned = THEOREMS["bsp-nonconvex"].tuned
    known = {"n": n, "sigma2": sigma2, "L": 1.0, "T": HORIZON, "Delta": DELTA}
    letters = {letter: known[str(letter)] for letter in tuned.step.free_symbols}
    assert step(n, sigma2) == pytest.approx(float(tuned.step.subs(letters)))
