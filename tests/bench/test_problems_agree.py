"""The theory's test problems and those of mpiddl are the same functions with the same constants."""

from __future__ import annotations

import numpy as np
import pytest

from mpiddl.problems import problem
from theory import testbed

CASES = [
    ("iso", {"d": 4, "L": 2.0, "zeta2": 0.5}),
    ("spec", {"spectrum": (0.1, 1.0)}),
    ("het", {}),
    ("nc", {"d": 5, "zeta2": 0.3}),
    ("huber", {"d": 3, "c": 0.2, "zeta2": 0.3}),
    ("pseudo_huber", {"spectrum": (0.1, 1.0), "c": 0.4}),
    ("heta", {"spectrum": (0.2, 0.5, 1.0), "zeta2": 0.4}),
    ("least_squares", {"samples": 30, "spectrum": (0.2, 1.0), "batch": 1}),
]


@pytest.mark.parametrize(("name", "options"), CASES, ids=lambda case: str(case))
def test_one_function_two_packages(name, options):
    ours, theirs = problem(name, 3, **options), testbed.problem(name, 3, **options)
    np.testing.assert_array_equal(ours.start(), theirs.x0)
    np.testing.assert_allclose(ours.optimum, theirs.optimum, atol=1e-12)
    values, constants = theirs.values, ours.constants
    for letter in ("L", "sigma2", "zeta2"):
        assert getattr(constants, letter) == pytest.approx(values.get(letter))
    assert (constants.mu or 0.0) == pytest.approx(values.get("mu", 0.0), rel=1e-12)
    assert constants.f_star == pytest.approx(theirs.f_star, rel=1e-12)
    for x in np.random.default_rng(0).normal(size=(5, theirs.d)):
        assert ours.loss(x) == pytest.approx(float(theirs.value(x)), rel=1e-12)
        every = theirs.gradients(np.broadcast_to(x, (3, theirs.d)))
        for worker in range(3):
            np.testing.assert_allclose(ours.full_gradient(x, worker), every[worker], atol=1e-12)


def test_every_problem_of_the_theory_is_compared():
    assert {name for name, _ in CASES} == set(testbed.OPTIONS)


def test_rows_have_the_constants_that_their_theorem_needs():
    options = {"samples": 30, "spectrum": (0.2, 1.0), "batch": 1}
    ours, values = (
        problem("least_squares", 2, **options),
        testbed.problem("least_squares", 2, **options).values,
    )
    assert ours.sample_smoothness == pytest.approx(values["Lmax"])
    assert ours.noise2(ours.optimum) == pytest.approx(values["ss"])
