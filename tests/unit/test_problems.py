"""What every registered problem promises, and what the synthetic ones promise besides."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from mpiddl.errors import ConfigurationError
from mpiddl.problems import NEED, READY, Event, problems
from mpiddl.problems.quadratic import SPECTRUM, Quadratic

WORKERS, SEED = 3, 5
SYNTHETIC = ("het", "huber", "iso", "nc", "pseudo_huber", "softplus", "spec")
DATA = (
    "breast_cancer",
    "diabetes",
    "digits",
    "digits_mlp",
    "least_squares",
    "logistic_nonconvex",
)
CASES: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in problems),
    *((name, {"layers": 3, "zeta2": 2.0, "sigma2": 0.5}) for name in SYNTHETIC),
    *((name, {"layers": 3, "zeta2": 2.0}) for name in ("bez", "heta")),
    *((name, {"zeta2": 2.0, "batch": 4}) for name in DATA),
    *((name, {"sharding": "disjoint", "sort": True}) for name in DATA),
    ("breast_cancer", {"sharding": "disjoint", "batch": None}),
    ("digits_mlp", {"lam": 0.1, "hidden": 3, "sharding": "disjoint", "batch": None}),
]
everyone = pytest.mark.parametrize(
    ("name", "options"), CASES, ids=[" ".join([n, *o]) for n, o in CASES]
)


def build(name: str, options: dict[str, Any], workers: int = WORKERS, seed: int = SEED) -> Any:
    return problems[name](workers, seed, **options)


def points(problem: Any, count: int, scale: float = 1.0) -> Iterator[Any]:
    random = np.random.default_rng(7)
    for _ in range(count):
        yield scale * random.standard_normal(problem.layout.size)


def gradient_of(problem: Any, x: Any, batch: Any) -> Any:
    out = np.full_like(x, np.nan)
    for _ in problem.gradient(x, batch, out):
        pass
    return out


def fingerprint(batch: Any) -> bytes:
    return np.asarray(batch if isinstance(batch, np.ndarray) else batch[0]).tobytes()


# The announcements -----------------------------------------------------------------------------


def check_announcements(problem: Any) -> None:
    """Let nobody have x before NEED, nor x or out after READY, and ask for the same gradient."""
    x = problem.start() + 0.5
    batch = problem.batch(0, 0)
    plain = gradient_of(problem, x, batch)
    layers = range(len(problem.layout.names))
    seen, out, got = (np.full_like(x, np.nan) for _ in range(3))
    told = []
    for event, layer in problem.gradient(seen, batch, out):
        told.append((event, layer))
        span = problem.layout.span(layer)
        if event is NEED:
            seen[span] = x[span]
        else:
            got[span] = out[span]
            seen[span] = out[span] = np.nan
    assert told == [(NEED, i) for i in layers] + [(READY, i) for i in reversed(layers)]
    assert np.array_equal(got, plain), "a gradient depends on what it must not read"
    assert np.isnan(out).all(), "a gradient was written after READY"


@everyone
def test_announces_each_layer_before_it_is_read_and_once_it_is_final(name, options):
    check_announcements(build(name, options))


def reads_early(self: Any, x: Any, batch: Any, out: Any) -> Iterator[tuple[Event, int]]:
    out[:] = self._spectrum * x
    yield from ((NEED, 0), (NEED, 1), (READY, 1), (READY, 0))


def reads_late(self: Any, x: Any, batch: Any, out: Any) -> Iterator[tuple[Event, int]]:
    yield from ((NEED, 0), (NEED, 1))
    out[5:] = x[5:]
    yield READY, 1
    out[:5] = x[:5] + x[5:]
    yield READY, 0


def writes_late(self: Any, x: Any, batch: Any, out: Any) -> Iterator[tuple[Event, int]]:
    yield from ((NEED, 0), (NEED, 1))
    out[:] = x
    kept = out.copy()
    yield from ((READY, 1), (READY, 0))
    out[:] = kept


def wrong_order(self: Any, x: Any, batch: Any, out: Any) -> Iterator[tuple[Event, int]]:
    yield from ((NEED, 0), (NEED, 1))
    out[:] = x
    yield from ((READY, 0), (READY, 1))


@pytest.mark.parametrize("broken", [reads_early, reads_late, writes_late, wrong_order])
def test_a_gradient_that_breaks_its_word_is_caught(monkeypatch, broken: Callable[..., Any]):
    monkeypatch.setattr(Quadratic, "gradient", broken)
    with pytest.raises(AssertionError):
        check_announcements(build("iso", {"layers": 2}))


# What is computed ------------------------------------------------------------------------------


@everyone
def test_full_gradient_is_the_slope_of_the_loss(name, options):
    problem = build(name, options)
    for x in points(problem, 3):
        slope = problem.full_gradient(x)
        for direction in points(problem, 3):
            h = 1e-5 * direction
            found = (problem.loss(x + h) - problem.loss(x - h)) / 2e-5
            assert found == pytest.approx(slope @ direction, rel=1e-6, abs=1e-8)


@everyone
def test_f_is_the_mean_of_the_workers_objectives(name, options):
    problem = build(name, options)
    for x in points(problem, 3):
        mean = sum(problem.full_gradient(x, i) for i in range(WORKERS)) / WORKERS
        assert np.linalg.norm(mean - problem.full_gradient(x)) <= 1e-14


@everyone
def test_noise_is_centred_and_as_large_as_stated(name, options):
    problem = build(name, options)
    x, steps = problem.start() + 0.1, 600
    squares = []
    for worker in range(WORKERS):
        exact = problem.full_gradient(x, worker)
        noise = [gradient_of(problem, x, problem.batch(worker, t)) - exact for t in range(steps)]
        squares.append([e @ e for e in noise])
        spread = np.mean(squares[-1])
        assert np.linalg.norm(np.mean(noise, axis=0)) <= 3 * np.sqrt(spread / steps) + 1e-14
    error = np.std(squares) / np.sqrt(np.size(squares))
    assert abs(np.mean(squares) - problem.noise2(x)) <= 4 * error + 1e-25


@everyone
def test_batches_differ_by_worker_step_and_seed_and_follow_from_them_alone(name, options):
    problem, again = build(name, options), build(name, options)
    keys = [(worker, step) for worker in range(WORKERS) for step in range(4)]
    prints = {key: fingerprint(problem.batch(*key)) for key in keys}
    if problem.constants.sigma2 == 0:
        keys = [(worker, 0) for worker in range(WORKERS)]
    assert len({prints[key] for key in keys}) == len(keys)
    assert all(prints[key] == fingerprint(again.batch(*key)) for key in reversed(prints))
    assert prints[0, 0] != fingerprint(build(name, options, seed=SEED + 1).batch(0, 0))


@everyone
def test_the_start_is_the_same_everywhere_and_the_callers_own(name, options):
    problem = build(name, options)
    first = problem.start()
    assert first.shape == (problem.layout.size,)
    assert first.dtype == problem.dtype == np.float64
    kept = first.copy()
    first += 1.0
    assert np.array_equal(problem.start(), kept)
    fewer = WORKERS if name == "bez" else 1
    assert np.array_equal(build(name, options, workers=fewer).start(), kept)


@everyone
def test_drawing_leaves_the_global_generator_alone(name, options):
    before = np.random.get_state()[1].tobytes()  # noqa: NPY002 - it is the one to leave alone
    problem = build(name, options)
    gradient_of(problem, problem.start(), problem.batch(1, 1))
    assert np.random.get_state()[1].tobytes() == before  # noqa: NPY002


@everyone
def test_float32_follows_float64(name, options):
    wide, narrow = build(name, options), build(name, {**options, "dtype": np.float32})
    for worker in range(WORKERS):
        x = next(points(wide, 1))
        exact = gradient_of(wide, x, wide.batch(worker, 2))
        found = gradient_of(narrow, x.astype(np.float32), narrow.batch(worker, 2))
        assert found.dtype == narrow.start().dtype == narrow.dtype == np.float32
        assert np.abs(found - exact).max() <= 3e-6 * (1 + np.abs(exact).max())
        assert narrow.loss(x) == pytest.approx(wide.loss(x), rel=1e-6)


@everyone
def test_a_run_that_diverges_gets_numbers_and_no_warnings(name, options):
    problem = build(name, {**options, "dtype": np.float32})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for size in (1e10, 1e38, 1e160, 1e300, np.finfo(float).max):
            x = np.full(problem.layout.size, size)
            x[::2] *= -1
            assert not np.isnan(problem.loss(x))
            problem.full_gradient(x, 0)
        with np.errstate(over="ignore"):
            gradient_of(problem, x.astype(np.float32), problem.batch(0, 0))


@everyone
def test_a_nan_stays_visible(name, options):
    problem = build(name, options)
    x = problem.start()
    x[0] = np.nan
    assert np.isnan(problem.loss(x))
    assert np.isnan(gradient_of(problem, x, problem.batch(0, 0))).any()


# The constants ---------------------------------------------------------------------------------


@everyone
def test_constants_hold_for_every_worker_at_random_points(name, options):
    problem = build(name, options)
    known = problem.constants
    for scale in (0.1, 1.0, 10.0):
        pairs = zip(points(problem, 20, scale), list(points(problem, 30, scale))[10:], strict=True)
        for x, y in pairs:
            apart = (x - y) @ (x - y)
            slopes = []
            for worker in range(WORKERS):
                slopes.append(problem.full_gradient(x, worker))
                turn = slopes[-1] - problem.full_gradient(y, worker)
                if known.L is not None:
                    assert turn @ turn <= known.L**2 * apart * (1 + 1e-12)
                if known.mu is not None:
                    assert turn @ (x - y) >= known.mu * apart * (1 - 1e-9)
            spread = [slope - problem.full_gradient(x) for slope in slopes]
            if known.zeta2 is not None:
                found = sum(s @ s for s in spread) / WORKERS
                assert found <= known.zeta2 * (1 + 1e-12) + 1e-28
            assert problem.heterogeneity2(x) == pytest.approx(sum(s @ s for s in spread) / WORKERS)
            if known.sigma2 is not None:
                assert problem.noise2(x) <= known.sigma2 * (1 + 1e-12)
            if known.f_star is not None:
                assert problem.loss(x) >= known.f_star


@everyone
def test_the_minimum_is_where_the_gradient_vanishes(name, options):
    for dtype in (np.float64, np.float32):
        problem = build(name, {**options, "dtype": dtype})
        assert (problem.optimum is None) == (problem.constants.f_star is None)
        if problem.optimum is not None:
            assert np.linalg.norm(problem.full_gradient(problem.optimum)) <= 2e-15
            assert problem.loss(problem.optimum) == problem.constants.f_star


@pytest.mark.parametrize("name", ["iso", "spec", "het"])
def test_curvatures_of_quadratics_are_attained(name):
    problem = build(name, {})
    turns = [
        np.linalg.norm(problem.full_gradient(e, 1) - problem.full_gradient(0 * e, 1))
        for e in np.eye(problem.layout.size)
    ]
    assert max(turns) == pytest.approx(problem.constants.L, rel=1e-2)
    assert min(turns) == pytest.approx(problem.constants.mu, rel=1e-2)


def test_curvatures_of_the_nonconvex_problem_are_attained():
    problem = problems["nc"](1, 0, d=1, L=3.0)

    def bend(at: float) -> float:
        ahead, behind = (problem.full_gradient(np.array([at + h]))[0] for h in (1e-5, -1e-5))
        return float(ahead - behind) / 2e-5

    bends = [bend(at) for at in np.linspace(-4, 4, 401)]
    assert max(bends) == pytest.approx(3.0, rel=1e-6)
    assert min(bends) == pytest.approx(-3.0 / 4, rel=1e-6)
    steepest = max(abs(problem.full_gradient(np.array([at]))[0]) for at in np.linspace(0, 2, 2001))
    assert steepest == pytest.approx(0.3248 * 3, rel=1e-3)


# The synthetic problems ------------------------------------------------------------------------


@pytest.mark.parametrize("name", SYNTHETIC)
@pytest.mark.parametrize("workers", [1, 2, 3, 5, 8, 32])
def test_shifts_add_up_to_nothing_and_spread_by_zeta2(name, workers):
    problem = problems[name](workers, 0, zeta2=2.5)
    for x in points(problem, 2):
        mean = problem.full_gradient(x)
        shifts = [problem.full_gradient(x, i) - mean for i in range(workers)]
        assert np.linalg.norm(sum(shifts)) <= 1e-14
        assert problem.constants.zeta2 == (2.5 if workers > 1 else 0.0)
        assert problem.heterogeneity2(x) == pytest.approx(problem.constants.zeta2)


@pytest.mark.parametrize("name", list(problems))
def test_each_says_in_a_line_what_it_is_good_for_and_has_an_accuracy_or_none(name):
    line = problems[name].__doc__.splitlines()[0]
    assert line.endswith(".")
    assert len(line) < 100
    problem = build(name, {})
    assert np.isnan(problem.test_accuracy(problem.start())) == (
        name not in ("digits", "digits_mlp")
    )


def test_shifts_are_the_slow_cosine_of_the_ring():
    problem = problems["iso"](8, 0, zeta2=1.0)
    shifts = np.array([problem.full_gradient(np.zeros(10), i) for i in range(8)])
    around = 2 * np.pi * np.arange(8) / 8
    assert np.allclose(shifts, np.outer(np.sqrt(2) * np.cos(around), np.ones(10) / np.sqrt(10)))


@pytest.mark.parametrize("name", SYNTHETIC)
def test_noise_is_white_and_independent_of_the_other_workers(name):
    problem = problems[name](2, 3, sigma2=4.0, zeta2=0.0)
    draws = np.array([[problem.batch(i, t) for t in range(4000)] for i in range(2)])
    white = 4.0 / 10 * np.eye(10)
    assert np.abs(np.cov(draws[0].T) - white).max() < 0.05
    assert np.abs(np.corrcoef(draws[0].T, draws[1].T)[:10, 10:]).max() < 0.07
    assert np.abs(np.corrcoef(draws[0, 1:, 0], draws[0, :-1, 0])[0, 1]) < 0.05


def test_the_registered_functions_are_what_they_say():
    x = next(points(problems["iso"](1, 0), 1))
    a = np.array(SPECTRUM)
    assert problems["iso"](1, 0, L=3.0).loss(x) == pytest.approx(1.5 * x @ x)
    assert problems["spec"](1, 0).loss(x) == pytest.approx(0.5 * a @ (x * x))
    assert problems["het"](4, 0).loss(x) == problems["spec"](4, 0).loss(x)
    assert problems["nc"](1, 0, L=3.0).loss(x) == pytest.approx(1.5 * np.sum(x * x / (1 + x * x)))
    assert [problems[name](4, 0).name for name in SYNTHETIC] == list(SYNTHETIC)
    assert problems["het"](4, 0).constants.zeta2 == 1.0


@pytest.mark.parametrize("name", SYNTHETIC)
def test_start_has_the_asked_radius(name):
    start = problems[name](1, 0, radius=2.0).start()
    assert np.linalg.norm(start) == pytest.approx(2.0)
    assert np.ptp(start) == 0.0


@pytest.mark.parametrize("layers", [1, 3, 7, 10])
def test_layers_are_equal_pieces_and_change_no_number(layers):
    whole, cut = problems["nc"](2, 0), problems["nc"](2, 0, layers=layers)
    sizes = [shape[0] for shape in cut.layout.shapes]
    assert len(sizes) == layers
    assert sum(sizes) == 10
    assert max(sizes) - min(sizes) <= 1
    x = next(points(whole, 1))
    found = gradient_of(cut, x, cut.batch(1, 1))
    assert np.array_equal(gradient_of(whole, x, whole.batch(1, 1)), found)


def test_a_flat_direction_leaves_the_optimum_open():
    problem = problems["spec"](2, 0, spectrum=(0.0, 1.0))
    assert problem.constants.mu == 0.0
    assert problem.optimum is None


@pytest.mark.parametrize(
    ("name", "options", "word"),
    [
        ("iso", {"d": 0}, "d = 0"),
        ("iso", {"d": 2.5}, "d = 2.5"),
        ("iso", {"L": 0.0}, "L = 0.0"),
        ("nc", {"L": -1}, "L = -1"),
        ("nc", {"sigma2": -1.0}, "sigma2"),
        ("iso", {"sigma2": np.nan}, "sigma2 = nan"),
        ("iso", {"zeta2": np.inf}, "zeta2 = inf"),
        ("iso", {"zeta2": "much"}, "zeta2 = 'much'"),
        ("iso", {"radius": -1.0}, "radius"),
        ("iso", {"layers": 0}, "layers = 0"),
        ("iso", {"layers": 11}, "layers = 11"),
        ("spec", {"spectrum": ()}, "spectrum"),
        ("spec", {"spectrum": (1.0, -0.1)}, "spectrum = .*-0.1"),
        ("het", {"dtype": np.float16}, "float16"),
        ("het", {"dtype": np.complex128}, "complex128"),
        ("het", {"dtype": "flaot32"}, "flaot32"),
        ("spec", {"spectrum": ((1.0, 2.0), (3.0,))}, "spectrum"),
        ("breast_cancer", {"dtype": np.int32}, "int32"),
        ("huber", {"c": 0}, "c = 0"),
        ("pseudo_huber", {"spectrum": (1.0, 0.0)}, "spectrum = .*0.0"),
        ("softplus", {"mu": 0.0}, "mu = 0.0"),
        ("softplus", {"c": np.nan}, "c = nan"),
        ("heta", {"spread": -1}, "spread = -1"),
        ("heta", {"spectrum": (0.0,)}, "spectrum = .*0.0"),
        ("bez", {}, "3 workers, not 2"),
        ("least_squares", {"samples": 0}, "samples = 0"),
        ("digits", {"lam": 0}, "lam = 0"),
        ("digits", {"zeta2": -1}, "zeta2 = -1"),
        ("digits_mlp", {"hidden": 0}, "hidden = 0"),
        ("digits_mlp", {"lam": -1}, "lam = -1"),
        ("digits_mlp", {"sort": True}, "sort = True"),
        ("logistic_nonconvex", {"alpha": 0}, "alpha = 0"),
    ],
)
def test_wrong_options_are_refused_by_name(name, options, word):
    with pytest.raises(ConfigurationError, match=word):
        problems[name](2, 0, **options)


@pytest.mark.parametrize("name", list(problems))
@pytest.mark.parametrize(("workers", "seed"), [(0, 0), (2, -1), (2.0, 0), (2, None)])
def test_wrong_workers_and_seeds_are_refused(name, workers, seed):
    with pytest.raises(ConfigurationError, match="workers|seed"):
        problems[name](workers, seed)
