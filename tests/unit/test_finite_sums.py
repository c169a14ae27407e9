"""Losses over rows: shards that add up, exact moments, constants that hold and are not idle."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from mpiddl.problems import Constants, problems
from mpiddl.problems.least_squares import LeastSquares
from mpiddl.problems.network import Network
from mpiddl.problems.sampling import Batch

DATA = (
    "breast_cancer",
    "diabetes",
    "digits",
    "digits_mlp",
    "least_squares",
    "logistic_nonconvex",
)
every = pytest.mark.parametrize("name", DATA)
RANDOM = np.random.default_rng(4)
ROWS = np.column_stack((RANDOM.standard_normal((8, 3)), RANDOM.integers(0, 3, 8)))


def build(name: str, workers: int, seed: int = 3, **options: Any) -> Any:
    return problems[name](workers, seed, **options)


def small(name: str, **options: Any) -> Any:
    """A problem of eight rows and three workers: 3, 3 and 2 rows."""
    if name == "least_squares":
        return LeastSquares(name, 3, 0, ROWS, **options)
    widths = (3, 3) if name == "softmax" else (3, 4, 2, 3)
    return Network(name, 3, 0, ROWS, ROWS, widths, 0.1, **options)


def gradient_of(problem: Any, x: Any, batch: Any) -> Any:
    out = np.full_like(x, np.nan)
    for _ in problem.gradient(x, batch, out):
        pass
    return out


def points(problem: Any, count: int, scale: float = 1.0) -> Any:
    return scale * np.random.default_rng(2).standard_normal((count, problem.layout.size))


# Shards ----------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("workers", [2, 5, 32, 1500])
def test_uneven_and_empty_shards_average_to_the_full_objective(name, workers):
    problem = build(name, workers, sharding="disjoint", sort=True, zeta2=1.0)
    for x in points(problem, 2, 0.3):
        mean = sum(problem.full_gradient(x, i) for i in range(workers)) / workers
        assert np.linalg.norm(mean - problem.full_gradient(x)) <= 1e-13
    assert problem.constants.zeta2 is None


@every
def test_a_worker_without_rows_has_the_penalty_and_its_shift_only(name):
    problem = build(name, 1500, sharding="disjoint", zeta2=1.0)
    alone = build(name, 1, sharding="disjoint")
    x, idle = points(problem, 1)[0], 1499
    own = gradient_of(problem, x, problem.batch(idle, 0))
    assert np.array_equal(own, problem.full_gradient(x, idle))
    assert np.allclose(own, alone._penalty.slope(x) + problem._shifts[idle], rtol=1e-12)
    assert problem.noise2(x, idle) == 0.0
    assert problem.constants.mu in (None, 0.0, 0.01)


@every
def test_whole_uneven_shards_give_the_full_gradient_in_every_average(name):
    problem = build(name, 7, sharding="disjoint", batch=None)
    assert len({problem.batch(i, 0).rows.size for i in range(7)}) == 2, "uneven"
    x = points(problem, 1)[0]
    mean = sum(gradient_of(problem, x, problem.batch(i, 0)) for i in range(7)) / 7
    assert np.abs(mean - problem.full_gradient(x)).max() <= 1e-13
    assert problem.noise2(x) == problem.constants.sigma2 == 0.0


@every
def test_n_workers_with_b_rows_are_one_worker_with_n_b(name):
    many, one = build(name, 4, batch=6), build(name, 1, batch=24)
    x = points(many, 1)[0]
    batches = [many.batch(i, 7) for i in range(4)]
    mean = sum(gradient_of(many, x, batch) for batch in batches) / 4
    joined = Batch(np.concatenate([batch.rows for batch in batches]), one.batch(0, 7).scale)
    assert np.allclose(gradient_of(one, x, joined), mean, rtol=1e-11, atol=1e-14)
    wrong = Batch(joined.rows, batches[0].scale)
    assert not np.allclose(gradient_of(one, x, wrong), mean, rtol=1e-3)


@every
def test_sorting_by_label_makes_workers_differ_more(name):
    shuffled, sorted_ = (build(name, 4, sharding="disjoint", sort=sort) for sort in (False, True))
    x = points(sorted_, 1, 0.1)[0]
    assert sorted_.heterogeneity2(x) > 4 * shuffled.heterogeneity2(x)


# The dial --------------------------------------------------------------------------------------


@every
def test_the_dial_makes_workers_differ_by_zeta2_everywhere_and_leaves_f_alone(name):
    turned, plain = build(name, 5, zeta2=2.5), build(name, 5)
    for x in points(plain, 3):
        assert turned.heterogeneity2(x) == pytest.approx(2.5)
        assert turned.loss(x) == plain.loss(x)
        assert turned.noise2(x) == plain.noise2(x)
        assert np.array_equal(turned.full_gradient(x), plain.full_gradient(x))
    assert turned.constants == replace(plain.constants, zeta2=2.5)
    assert build(name, 1, zeta2=2.5).constants.zeta2 == 0.0
    x = turned.start()
    pushed = gradient_of(turned, x, turned.batch(1, 4)) - gradient_of(plain, x, plain.batch(1, 4))
    assert np.allclose(pushed, turned.full_gradient(x, 1) - turned.full_gradient(x))


# Moments ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["least_squares", "softmax", "network"])
@pytest.mark.parametrize("options", [{}, {"sharding": "disjoint", "sort": True, "zeta2": 1.0}])
@pytest.mark.parametrize("size", [1, 2])
def test_moments_of_a_gradient_are_those_of_all_its_draws(name, options, size):
    problem = small(name, batch=size, **options)
    x, found = points(problem, 1)[0], []
    for worker in range(3):
        whole = small(name, batch=None, **options).batch(worker, 0)
        scale = whole.scale * whole.rows.size / size
        draws = np.array(
            [
                gradient_of(problem, x, Batch(np.array(rows), scale, whole.shift))
                for rows in product(whole.rows, repeat=size)
            ]
        )
        exact = problem.full_gradient(x, worker)
        assert np.abs(draws.mean(axis=0) - exact).max() <= 1e-14
        found.append(np.mean(np.sum((draws - exact) ** 2, axis=1)))
        assert problem.noise2(x, worker) == pytest.approx(found[-1], rel=1e-11)
    assert problem.noise2(x) == pytest.approx(np.mean(found), rel=1e-11)


# Constants -------------------------------------------------------------------------------------


def steepest(problem: Any, x: Any) -> Any:
    """The direction in which the gradient turns fastest at x, by the power method."""
    h = points(problem, 1)[0]
    for _ in range(8):
        h *= 1e-4 / np.linalg.norm(h)
        h = problem.full_gradient(x + h) - problem.full_gradient(x - h)
    return h / np.linalg.norm(h)


def broken_promises(problem: Any, known: Constants, scales: tuple[float, ...]) -> set[str]:
    """Names of the constants that some points contradict."""
    found, zero = set(), np.zeros(problem.layout.size)
    steep = steepest(problem, zero)
    for centre in (zero, zero if problem.optimum is None else problem.optimum):
        for scale in scales:
            around = points(problem, 12, 1.0 / np.sqrt(zero.size))
            for h in (scale * direction for direction in (steep, *around)):
                x = centre + h
                turn = problem.full_gradient(x) - problem.full_gradient(centre)
                holds = {
                    "L": known.L is None or turn @ turn <= known.L**2 * (h @ h) * (1 + 1e-9),
                    "mu": known.mu is None or turn @ h >= known.mu * (h @ h) * (1 - 1e-9),
                    "sigma2": known.sigma2 is None or problem.noise2(x) <= known.sigma2,
                    "zeta2": known.zeta2 is None
                    or problem.heterogeneity2(x) <= known.zeta2 * (1 + 1e-9),
                    "f_star": known.f_star is None or problem.loss(x) >= known.f_star,
                }
                found |= {what for what, kept in holds.items() if not kept}
    return found


@every
def test_constants_hold_and_smaller_ones_would_not(name):
    problem = build(name, 3, zeta2=0.5)
    known, scales = problem.constants, (1e-3, 1.0, 100.0)
    assert broken_promises(problem, known, scales) == set()
    factors = {"L": 0.9, "mu": 50.0, "sigma2": 0.2, "zeta2": 0.99, "f_star": 1.1}
    if name == "digits":
        factors["L"] = 0.9 / 5  # at 0 all digits are equally likely: a fifth of what may be
    for what, factor in factors.items():
        value = getattr(known, what)
        if value is not None:
            wrong = replace(known, **{what: factor * value})
            assert broken_promises(problem, wrong, scales) == {what}


def test_diabetes_has_the_known_constants():
    known = build("diabetes", 4).constants
    assert known.f_star == pytest.approx(0.241125788890, abs=1e-12)
    assert known.L == pytest.approx(4.024, abs=5e-4)
    assert known.mu == pytest.approx(8.56e-3, abs=5e-6)
    assert known.sigma2 is None
    assert known.zeta2 == 0.0


@pytest.mark.parametrize("name", ["diabetes", "least_squares"])
def test_curvatures_of_least_squares_are_attained(name):
    problem = build(name, 3, sharding="disjoint")
    hessians = np.array(
        [
            [problem.full_gradient(e, i) - problem.full_gradient(0 * e, i) for e in np.eye(10)]
            for i in range(3)
        ]
    )
    bends = np.linalg.eigvalsh(hessians)
    assert bends.max() == pytest.approx(problem.constants.L, rel=1e-12)
    assert bends.min() == pytest.approx(problem.constants.mu, rel=1e-9)
    loss = max(np.sum(row[:-1] ** 2) for row in problem._rows)
    assert problem.sample_smoothness == pytest.approx(loss)


def test_parallel_columns_leave_the_optimum_of_least_squares_open():
    twice = LeastSquares("twice", 1, 0, np.column_stack((ROWS[:, :1], ROWS)))
    assert twice.constants.mu == 0.0
    assert twice.optimum is None
    assert twice.constants.f_star is None


@pytest.mark.parametrize("name", ["breast_cancer", "diabetes", "digits", "least_squares"])
def test_descent_ends_at_the_minimum(name):
    problem = build(name, 1)
    known = problem.constants
    drag = np.sqrt(known.mu / known.L)
    x = ahead = problem.start()
    for _ in range(int(16 / drag)):
        before, x = x, ahead - problem.full_gradient(ahead) / known.L
        ahead = x + (1 - drag) / (1 + drag) * (x - before)
    assert 0 <= problem.loss(x) - known.f_star + 1e-15 <= 1e-6 * known.f_star
    assert np.linalg.norm(x - problem.optimum) <= 1e-2 * np.linalg.norm(problem.optimum)


# Digits ----------------------------------------------------------------------------------------


def test_the_hessian_of_digits_is_the_slope_of_its_gradient():
    problem = build("digits", 1)
    for x, h in zip(points(problem, 2, 0.2), points(problem, 4, 1e-5)[2:], strict=True):
        turn = problem.full_gradient(x + h) - problem.full_gradient(x - h)
        assert np.linalg.norm(problem._hessian(x) @ h - turn / 2) <= 1e-6 * np.linalg.norm(turn)


def test_softmax_regression_is_the_formula():
    problem = small("softmax")
    a, y = np.column_stack((ROWS[:, :3], np.ones(8))), ROWS[:, 3].astype(int)
    for x in points(problem, 5):
        z = a @ x.reshape(4, 3)
        p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
        assert problem.loss(x) == pytest.approx(-np.mean(np.log(p[np.arange(8), y])) + 0.05 * x @ x)
        slope = a.T @ (p - np.eye(3)[y]) / 8 + 0.1 * x.reshape(4, 3)
        assert np.allclose(problem.full_gradient(x), slope.ravel())
        assert problem.test_accuracy(x) == np.mean(z.argmax(axis=1) == y)


def test_a_network_is_the_formula():
    problem = small("network")
    assert problem.layout.shapes == ((3, 4), (4,), (4, 2), (2,), (2, 3), (3,))
    x, y = points(problem, 1)[0], ROWS[:, 3].astype(int)
    w1, c1, w2, c2, w3, c3 = (
        x[problem.layout.span(i)].reshape(shape) for i, shape in enumerate(problem.layout.shapes)
    )
    z = np.tanh(np.tanh(ROWS[:, :3] @ w1 + c1) @ w2 + c2) @ w3 + c3
    losses = np.log(np.exp(z).sum(axis=1)) - z[np.arange(8), y]
    assert problem.loss(x) == pytest.approx(losses.mean() + 0.05 * x @ x)


def test_the_held_out_digits_are_others_and_the_same_for_every_seed_and_worker():
    one, two = build("digits", 2, seed=0), build("digits_mlp", 5, seed=8)
    assert (len(one._rows), len(one._held_out)) == (1437, 360)
    assert np.array_equal(one._rows, two._rows)
    assert np.array_equal(one._held_out, two._held_out)
    together = {row.tobytes() for row in np.concatenate((one._rows, one._held_out))}
    assert len(together) == 1797
    assert set(one._held_out[:, -1]) == set(range(10))
    pixels = one._rows[:, :-1]
    assert np.abs(pixels.mean(axis=0)).max() < 1e-13
    assert np.mean(pixels * pixels) == pytest.approx(1.0)


def test_accuracy_is_measured_on_digits_not_learnt_from():
    problem = build("digits", 1)
    best = problem.optimum
    assert problem.test_accuracy(best) > 0.95
    assert problem.test_accuracy(best) == problem.test_accuracy(best.astype(np.float32))
    assert problem.test_accuracy(problem.start()) == np.mean(problem._held_out[:, -1] == 0)
    assert problem.test_accuracy(np.roll(best, 1)) < 0.3, "classes shifted by one"
    assert isinstance(problem.test_accuracy(best), float)


def test_nothing_is_computed_before_it_is_asked_for():
    problem = build("digits", 1)
    gradient_of(problem, problem.start(), problem.batch(0, 0))
    assert not {"constants", "optimum"} & set(vars(problem))


def test_the_network_starts_at_the_same_random_point_everywhere():
    start = build("digits_mlp", 2).start()
    assert np.array_equal(start, build("digits_mlp", 32).start())
    assert not np.array_equal(start, build("digits_mlp", 2, seed=4).start())
    layout = build("digits_mlp", 2).layout
    assert layout.names == ("weights1", "bias1", "weights2", "bias2")
    first, second = start[layout.span(0)], start[layout.span(2)]
    assert first.std() == pytest.approx(1 / 8, rel=0.1)
    assert second.std() == pytest.approx(1 / np.sqrt(32), rel=0.2)
    assert not start[layout.span(1)].any()
    assert not start[layout.span(3)].any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_network_learns_with_32_workers_of_16_rows(dtype):
    problem = build("digits_mlp", 32, dtype=dtype)
    x, out = problem.start(), problem.start()
    untrained = problem.test_accuracy(x)
    for step in range(150):
        mean = np.zeros_like(x)
        for worker in range(32):
            for _ in problem.gradient(x, problem.batch(worker, step), out):
                pass
            mean += out
        x -= dtype(0.3 / 32) * mean
    assert x.dtype == dtype
    assert problem.test_accuracy(x) >= 0.93
    assert untrained < 0.4


def test_dividing_by_the_number_of_workers_matters():
    problem = build("digits_mlp", 1, batch=512)
    x, slow = problem.start(), problem.start()
    out = problem.start()
    for step in range(150):
        for model, gam in ((x, 0.3), (slow, 0.3 / 512)):
            for _ in problem.gradient(model, problem.batch(0, step), out):
                pass
            model -= gam * out
    assert problem.test_accuracy(x) >= 0.93 > problem.test_accuracy(slow)
