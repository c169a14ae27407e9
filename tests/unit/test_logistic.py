"""Logistic regression: known optima, exact moments, and shards that add up."""

from __future__ import annotations

import hashlib
from itertools import product
from typing import Any

import numpy as np
import pytest

from mpiddl.errors import ConfigurationError
from mpiddl.problems import problems
from mpiddl.problems.logistic import LogisticRegression
from mpiddl.problems.logistic_loss import refusals
from mpiddl.problems.minimum import newton

breast_cancer = problems["breast_cancer"]
DATA = np.random.default_rng(11)
FEATURES = DATA.standard_normal((23, 4)) @ DATA.standard_normal((4, 4)) + 3.0
LABELS = (FEATURES[:, 0] + DATA.standard_normal(23) > 3.0).astype(int)


def small(workers: int = 3, **options: Any) -> LogisticRegression:
    return LogisticRegression.from_arrays(FEATURES, LABELS, workers, 5, **options)


def gradient_of(problem: Any, x: Any, batch: Any) -> Any:
    out = np.full_like(x, np.nan)
    for _ in problem.gradient(x, batch, out):
        pass
    return out


def points(d: int, count: int, scale: float = 1.0) -> Any:
    return scale * np.random.default_rng(2).standard_normal((count, d))


@pytest.mark.parametrize(
    ("lam", "f_star", "smoothness"),
    [
        (1 / 569, 0.066394069823, 3.3222),
        (1e-2, 0.100446303781, 3.3304),
        (1e-1, 0.204482613735, 3.4204),
    ],
)
def test_optima_of_breast_cancer_are_the_known_ones(lam, f_star, smoothness):
    problem = breast_cancer(4, 0, lam=lam)
    known = problem.constants
    assert known.f_star == pytest.approx(f_star, abs=1e-12)
    assert known.L == pytest.approx(smoothness, abs=5e-5)
    assert (known.mu, known.zeta2) == (lam, 0.0)
    assert np.linalg.norm(problem.full_gradient(problem.optimum)) <= 1e-15
    assert problem.layout.names == ("weights", "bias")
    assert problem.layout.shapes == ((30,), (1,))
    assert problem.accuracy(problem.optimum) > 0.97


@pytest.mark.parametrize("lam", [1e-8, 1e-4, 1.0, 100.0])
def test_the_minimiser_is_found_for_any_penalty(lam):
    for problem in (breast_cancer(1, 0, lam=lam), small(lam=lam)):
        assert np.linalg.norm(problem.full_gradient(problem.optimum)) <= 1e-14
        with pytest.raises(ValueError, match="read-only"):
            problem.optimum[0] = 1.0


def test_newton_halves_steps_that_would_overshoot():
    def gradient(x: Any) -> Any:
        return np.tanh(4 * x) + 1e-3 * x

    def hessian(x: Any) -> Any:
        return np.diag(4 - 4 * np.tanh(4 * x) ** 2 + 1e-3)

    far = np.array([2.0, -3.0])
    plain = far - np.linalg.solve(hessian(far), gradient(far))
    assert np.linalg.norm(gradient(plain)) >= np.linalg.norm(gradient(far)) / 2
    assert np.abs(newton(gradient, hessian, far)).max() <= 1e-15


def test_loss_gradient_and_accuracy_are_the_formulas():
    problem, m = small(lam=0.3), len(LABELS)
    a = (FEATURES - FEATURES.mean(axis=0)) / FEATURES.std(axis=0)
    a = np.column_stack((a, np.ones(m)))
    y = 2.0 * LABELS - 1
    for x in points(5, 5):
        z = y * (a @ x)
        loss = np.mean(np.log1p(np.exp(-z))) + 0.15 * x @ x
        slope = a.T @ (-y / (1 + np.exp(z))) / m + 0.3 * x
        assert problem.loss(x) == pytest.approx(loss, rel=1e-13)
        assert np.allclose(problem.full_gradient(x), slope, rtol=1e-12)
        assert problem.accuracy(x) == np.mean(np.where(a @ x > 0, 1, -1) == y)
    assert problem.accuracy(np.zeros(5)) == np.mean(LABELS == 0)
    assert problem.loss(np.zeros(5)) == pytest.approx(np.log(2))


def test_the_nonconvex_penalty_is_the_formula_and_bends_down():
    problem, m = problems["logistic_nonconvex"](1, 0, alpha=10.0), 569
    v = breast_cancer(1, 0)._wide
    for x in points(31, 5):
        z = v @ x
        loss = np.mean(np.log1p(np.exp(-z))) + 10.0 * np.sum(x * x / (1 + x * x))
        slope = v.T @ (-1 / (1 + np.exp(z))) / m + 20.0 * x / (1 + x * x) ** 2
        assert problem.loss(x) == pytest.approx(loss, rel=1e-13)
        assert np.allclose(problem.full_gradient(x), slope, rtol=1e-12)
    along = np.eye(31)[3]
    ahead, behind = (problem.full_gradient(along * (1 + h))[3] for h in (1e-5, -1e-5))
    assert ahead < behind, "f is concave here, so it has no mu"
    known = problem.constants
    assert (known.mu, known.f_star, problem.optimum) == (None, None, None)
    assert known.L == pytest.approx(3.3304 - 0.01 + 20, abs=5e-5)
    assert known.sigma2 == breast_cancer(1, 0).constants.sigma2


def test_refusals_keep_their_limits():
    z = np.array([-np.inf, -800.0, 0.0, 800.0, np.inf])
    assert refusals(z).tolist() == [1.0, 1.0, 0.5, 0.0, 0.0]
    assert np.allclose(refusals(np.linspace(-9, 9)), 1 / (1 + np.exp(np.linspace(-9, 9))), 1e-12)


@pytest.mark.parametrize("sort", [False, True])
@pytest.mark.parametrize("workers", [1, 2, 3, 5, 8, 32, 600])
def test_uneven_and_empty_shards_average_to_the_full_objective(workers, sort):
    problem = breast_cancer(workers, 3, sharding="disjoint", sort=sort)
    for x in points(31, 2):
        mean = sum(problem.full_gradient(x, i) for i in range(workers)) / workers
        assert np.linalg.norm(mean - problem.full_gradient(x)) <= 1e-14
    assert problem.constants.zeta2 == (0.0 if workers == 1 else None)


def test_a_worker_without_rows_has_the_penalty_only():
    problem = breast_cancer(600, 3, sharding="disjoint")
    x = points(31, 1)[0]
    assert np.array_equal(gradient_of(problem, x, problem.batch(599, 0)), 0.01 * x)
    assert np.array_equal(problem.full_gradient(x, 599), 0.01 * x)
    assert problem.noise2(x, 599) == 0.0


OPTIONS = [{}, {"sharding": "disjoint"}, {"sharding": "disjoint", "sort": True}]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("size", [1, 2])
def test_moments_of_a_gradient_are_those_of_all_its_draws(options, size):
    problem = small(batch=size, **options)
    x = points(5, 1)[0]
    found = []
    for worker in range(problem.workers):
        mine = small(batch=None, **options).batch(worker, 0)
        scale = problem.batch(worker, 0).scale
        draws = np.array(
            [
                gradient_of(problem, x, type(mine)(np.array(rows), scale))
                for rows in product(mine.rows, repeat=size)
            ]
        )
        exact = problem.full_gradient(x, worker)
        assert np.abs(draws.mean(axis=0) - exact).max() <= 1e-14
        found.append(np.mean(np.sum((draws - exact) ** 2, axis=1)))
        assert problem.noise2(x, worker) == pytest.approx(found[-1], rel=1e-12)
    assert problem.noise2(x) == pytest.approx(np.mean(found), rel=1e-12)


@pytest.mark.parametrize("options", OPTIONS)
def test_a_whole_shard_is_its_exact_gradient(options):
    problem = small(batch=None, **options)
    for worker, x in enumerate(points(5, 3)):
        found = gradient_of(problem, x, problem.batch(worker, 9))
        assert np.abs(found - problem.full_gradient(x, worker)).max() <= 1e-14
        assert problem.noise2(x) == problem.constants.sigma2 == 0.0


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("workers", [1, 4, 30])
def test_bounds_hold_for_each_worker_wherever_x_is(options, workers):
    problem = small(workers, **options)
    known = problem.constants
    for scale in (0.01, 1.0, 100.0):
        for x, y in zip(points(5, 20, scale), points(5, 40, scale)[20:], strict=True):
            for worker in range(workers):
                assert problem.noise2(x, worker) <= known.sigma2 * (1 + 1e-12)
                turn = problem.full_gradient(x, worker) - problem.full_gradient(y, worker)
                assert turn @ turn <= known.L**2 * ((x - y) @ (x - y)) * (1 + 1e-12)


def test_the_bounds_are_not_far_away():
    problem = small(4, sharding="disjoint", batch=4)
    far = max(problem.noise2(x, i) for x in points(5, 300, 100.0) for i in range(4))
    assert far >= problem.constants.sigma2 / 2
    steep = max(
        np.linalg.norm(problem.full_gradient(h, i) - problem.full_gradient(-h, i)) / 2e-4
        for h in 1e-4 * np.array([h / np.linalg.norm(h) for h in points(5, 300)])
        for i in range(4)
    )
    assert steep >= problem.constants.L / 2


def test_rows_differ_by_rank_and_stay_in_their_shard():
    problem, workers = breast_cancer(8, 42, sharding="disjoint", batch=64), range(8)
    first = [problem.batch(worker, 0).rows for worker in workers]
    assert len({hashlib.sha256(rows.tobytes()).hexdigest() for rows in first}) == 8
    drawn = [
        set(np.concatenate([problem.batch(worker, step).rows for step in range(30)]))
        for worker in workers
    ]
    assert sum(map(len, drawn)) == len(set().union(*drawn)) == 569, "disjoint, and they cover"
    again = breast_cancer(8, 42, sharding="disjoint", batch=64)
    assert all(np.array_equal(again.batch(i, 0).rows, first[i]) for i in reversed(workers))


def test_replicated_workers_draw_different_rows_of_the_same_data():
    problem = breast_cancer(4, 42, batch=64)
    prints = {problem.batch(i, step).rows.tobytes() for i in range(4) for step in range(4)}
    assert len(prints) == 16
    assert problem.heterogeneity2(points(31, 1)[0]) == 0.0


def test_rows_are_drawn_with_replacement_and_evenly():
    problem = small(1, batch=4000)
    counts = np.bincount(problem.batch(0, 0).rows, minlength=23)
    assert ((counts - 4000 / 23) ** 2 / (4000 / 23)).sum() < 50  # chi square, 22 degrees


def test_users_arrays_give_the_same_problem_in_any_layout():
    x, plain = points(5, 1)[0], small()
    for given in (np.asfortranarray(FEATURES), FEATURES[::-1].copy()[::-1], FEATURES.tolist()):
        problem = LogisticRegression.from_arrays(given, LABELS, 3, 5)
        assert problem.loss(x) == plain.loss(x)
        batch = problem.batch(1, 1)
        assert np.array_equal(gradient_of(problem, x, batch), gradient_of(plain, x, batch))


def test_the_problem_keeps_a_copy():
    features = FEATURES.copy()
    problem, x = LogisticRegression.from_arrays(features, LABELS, 1, 0), points(5, 1)[0]
    loss = problem.loss(x)
    features[:] = 0.0
    assert problem.loss(x) == loss


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"lam": 0.0}, "lam = 0.0"),
        ({"lam": -1.0}, "lam = -1.0"),
        ({"batch": 0}, "batch = 0"),
        ({"batch": 1.5}, "batch = 1.5"),
        ({"sharding": "random"}, "'random'.*'replicated' or 'disjoint'"),
        ({"sort": True}, "sort = True"),
    ],
)
def test_wrong_options_are_refused_by_name(options, word):
    with pytest.raises(ConfigurationError, match=word):
        small(**options)
