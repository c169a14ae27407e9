"""The constants of the synthetic problems, computed again from values alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from theory.testbed import Heta, LeastSquares, problem, shifts

PROBLEMS: list[tuple[str, dict[str, Any]]] = [
    ("iso", {"d": 5, "L": 2.0, "zeta2": 0.7}),
    ("spec", {"spectrum": (0.2, 1.0, 3.0)}),
    ("het", {}),
    ("nc", {"d": 6, "L": 1.5, "zeta2": 0.3, "radius": 2.0}),
    ("huber", {"d": 4, "L": 1.5, "c": 0.7, "zeta2": 0.3}),
    ("pseudo_huber", {"spectrum": (0.2, 1.0, 3.0), "c": 0.5}),
]


@pytest.mark.parametrize(("name", "options"), PROBLEMS)
@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_constants(name: str, options: dict[str, Any], n: int) -> None:
    f = problem(name, n, **options)
    rng, e, constants = np.random.default_rng(0), 1e-6 * np.eye(f.d), f.values
    x, y = rng.normal(size=(2, 200, f.d))
    differences = (f.value(x[:, None] + e) - f.value(x[:, None] - e)) / 2e-6
    np.testing.assert_allclose(differences, f.gradient(x), atol=1e-8)
    rises = np.linalg.norm(f.gradient(x) - f.gradient(y), axis=1) / np.linalg.norm(x - y, axis=1)
    assert rises.max() <= constants["L"] * (1 + 1e-12)
    near = np.full((2, f.d), 1e-3) * np.eye(f.d)[[0, -1]]
    steepest = np.linalg.norm(f.gradient(near), axis=1) / 1e-3
    assert steepest.max() == pytest.approx(constants["L"], rel=1e-5)
    if "mu" in constants:
        assert rises.min() >= constants["mu"]
        assert steepest.min() == pytest.approx(constants["mu"], rel=1e-5)
    each = f.gradients(np.broadcast_to(x[:, None], (200, n, f.d)))
    np.testing.assert_allclose(each.mean(axis=1), f.gradient(x), atol=1e-12)
    spread = ((each - f.gradient(x)[:, None]) ** 2).sum(axis=-1).mean(axis=-1)
    np.testing.assert_allclose(spread, constants["zeta2"], atol=1e-12)
    assert constants["Delta"] == pytest.approx(float(f.value(f.x0)) - f.f_star)
    assert constants["R2"] == pytest.approx(float(((f.x0 - f.optimum) ** 2).sum()))
    assert f.value(x).min() >= f.f_star
    assert f.value(f.optimum) == f.f_star


def test_heterogeneity_is_the_slow_mode_of_the_ring() -> None:
    s = shifts(8, 3, 2.0)
    ring = (np.eye(8) + np.roll(np.eye(8), 1, axis=0) + np.roll(np.eye(8), -1, axis=0)) / 3
    np.testing.assert_allclose(ring @ s, (1 + 2 * np.cos(np.pi / 4)) / 3 * s, atol=1e-14)


@pytest.mark.parametrize("n", [1, 4])
def test_constants_of_quadratics_that_bend_differently(n: int) -> None:
    f = problem("heta", n, spectrum=(0.2, 0.5, 1.0), zeta2=0.7)
    assert isinstance(f, Heta)
    values, rng = f.values, np.random.default_rng(0)
    x, e = rng.normal(size=(20, 3)), 1e-6 * np.eye(3)
    differences = (f.value(x[:, None] + e) - f.value(x[:, None] - e)) / 2e-6
    np.testing.assert_allclose(differences, f.gradient(x), atol=1e-8)
    each = f.gradients(np.broadcast_to(x[:, None], (20, n, 3)))
    np.testing.assert_allclose(each.mean(axis=1), f.gradient(x), atol=1e-12)
    np.testing.assert_allclose(f.gradient(f.optimum), 0, atol=1e-12)
    at = f.gradients(np.broadcast_to(f.optimum, (n, 3)))
    assert values["zs"] == pytest.approx((at**2).sum(axis=1).mean())
    assert (values["zs"] > 0.1) == (n > 1)
    assert (values["mu"], values["L"]) == pytest.approx((0.2, 1.0))
    assert ("zeta2" in values) == (n == 1), "how workers differ grows with |x|"


@pytest.mark.parametrize("options", [{}, {"samples": 30, "spectrum": (0.3, 1.0), "batch": 1}])
def test_constants_of_sampled_rows(options: dict[str, Any]) -> None:
    f = problem("least_squares", 3, **options)
    assert isinstance(f, LeastSquares)
    values, rng = f.values, np.random.default_rng(0)
    np.testing.assert_allclose(f.gradient(f.optimum), 0, atol=1e-12)
    assert f.value(f.optimum) == pytest.approx(f.f_star)
    assert "sigma2" not in values, "the noise grows with the distance"
    x = rng.normal(size=(50, f.d))
    e = 1e-5 * np.eye(f.d)
    slopes = (f.value(x[:, None] + e) - f.value(x[:, None] - e)) / 2e-5
    np.testing.assert_allclose(slopes, f.gradient(x), atol=1e-6)
    every = np.arange(len(f.a))
    at = np.broadcast_to(x[:, None], (50, every.size, f.d))
    drawn = f.stochastic(at, np.broadcast_to(every, (50, every.size)))
    np.testing.assert_allclose(drawn.mean(axis=1), f.gradient(x), atol=1e-12)
    still = f.stochastic(np.broadcast_to(f.optimum, (every.size, f.d)), every)
    assert values["ss"] == pytest.approx((still**2).sum(axis=1).mean())
    moved = ((drawn - still) ** 2).sum(axis=-1).mean(axis=-1)
    assert np.all(moved <= 2 * values["Lmax"] * (f.value(x) - f.f_star) * (1 + 1e-9))
    assert values["mu"] <= values["L"] <= values["Lmax"]


def test_what_is_unknown_is_refused() -> None:
    with pytest.raises(ValueError, match="no problem"):
        problem("banana", 2)
    with pytest.raises(ValueError, match="no option L"):
        problem("spec", 2, L=1.0)
    with pytest.raises(ValueError, match="one row"):
        problem("least_squares", 2, batch=16)
