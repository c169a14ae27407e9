"""The problems that exist for one theorem: their formulas, and that they do what they are for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mpiddl.errors import ConfigurationError
from mpiddl.problems import problems


def points(d: int, count: int, scale: float = 1.0) -> Any:
    return scale * np.random.default_rng(2).standard_normal((count, d))


def bends(problem: Any, reach: float) -> list[float]:
    """Second derivatives of a problem of one coordinate on a grid."""

    def bend(at: float) -> float:
        ahead, behind = (problem.full_gradient(np.array([at + h]))[0] for h in (1e-5, -1e-5))
        return float(ahead - behind) / 2e-5

    return [bend(at) for at in np.linspace(-reach, reach, 801)]


# Huber -----------------------------------------------------------------------------------------


def over_the_bound(T: int, step: float, d: int, width: float = 1.0) -> float:
    """The loss after T steps of descent from |x0| = 1, over the bound of gd-convex; L = 2."""
    gam, L = step / 2.0, 2.0
    c = width / np.sqrt(d) / (2 * T * step + 1)
    problem = problems["huber"](1, 0, d=d, L=L, c=c)
    x = problem.start()
    for _ in range(T):
        x -= gam * problem.full_gradient(x)
    return problem.loss(x) * (4 * T * gam * L + 2) / L


@pytest.mark.parametrize("T", [1, 7, 60])
@pytest.mark.parametrize("step", [0.25, 0.5, 1.0])
@pytest.mark.parametrize("d", [1, 10])
def test_huber_attains_the_bound_of_descent(T, step, d):
    assert over_the_bound(T, step, d) == pytest.approx(1.0, rel=1e-12)
    assert over_the_bound(T, step, d, width=2.0) < 0.999, "any other width is better off"


def test_huber_is_the_formula():
    problem = problems["huber"](1, 0, L=3.0, c=0.5)
    for x in points(10, 5):
        inside = np.abs(x) <= 0.5
        expected = np.where(inside, 1.5 * x * x, 1.5 * np.abs(x) - 0.375)
        assert problem.loss(x) == pytest.approx(expected.sum())
    found = bends(problems["huber"](1, 0, d=1, L=3.0, c=0.5), 2.0)
    assert max(found) == pytest.approx(3.0)
    assert min(found) == 0.0


# Pseudo-Huber ----------------------------------------------------------------------------------


def test_pseudo_huber_is_the_formula():
    a, c = np.array([0.5, 2.0, 1.0]), 0.7
    problem = problems["pseudo_huber"](1, 0, spectrum=a, c=c)
    for x in points(3, 5):
        assert problem.loss(x) == pytest.approx(np.sum(a * c * c * (np.sqrt(1 + (x / c) ** 2) - 1)))
    assert problem.loss(np.full(3, 1e-12)) == pytest.approx(0.5e-24 * a.sum()), "no cancellation"
    found = bends(problems["pseudo_huber"](1, 0, spectrum=(2.0,), c=c), 100.0)
    assert max(found) == pytest.approx(2.0)
    assert 0 <= min(found) < 1e-5


def second_moment(problem: Any, x: Any) -> float:
    slopes = [problem.full_gradient(x, worker) for worker in range(problem.workers)]
    return float(np.mean([slope @ slope for slope in slopes])) + problem.noise2(x)


def test_second_moments_of_pseudo_huber_are_bounded_and_the_bound_is_attained_far_out():
    problem = problems["pseudo_huber"](5, 0, c=0.3, sigma2=0.5, zeta2=2.0)
    for scale in (0.1, 1.0, 100.0):
        assert all(second_moment(problem, x) <= problem.G2 for x in points(10, 20, scale))
    far = np.full(10, 1e9)
    assert second_moment(problem, far) == pytest.approx(problem.G2)
    assert second_moment(problem, far) > problem.G2 - 2.0, "each term of the bound is needed"
    assert second_moment(problem, far) > problem.G2 - 0.5
    assert (
        problems["pseudo_huber"](1, 0, zeta2=2.0).G2 < problems["pseudo_huber"](2, 0, zeta2=2.0).G2
    )


# Softplus --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("a", "c", "mu"), [(4.0, 0.2, 0.1), (50.0, -0.4, 0.01), (0.1, 3.0, 1.0)])
def test_softplus_is_the_formula_and_its_minimum_is_found(a, c, mu):
    problem = problems["softplus"](1, 0, d=3, a=a, c=c, mu=mu)
    for x in points(3, 5):
        expected = np.log1p(np.exp(a * x)) / a - c * x + mu * x * x / 2
        assert problem.loss(x) == pytest.approx(expected.sum())
    assert np.linalg.norm(problem.full_gradient(problem.optimum)) <= 1e-14
    x, known = problem.start(), problem.constants
    for _ in range(int(40 * known.L / known.mu)):
        x -= problem.full_gradient(x) / known.L
    assert problem.loss(x) == pytest.approx(known.f_star, rel=1e-13)
    assert all(problem.loss(problem.optimum + h) > known.f_star for h in points(3, 5, 1e-3))
    found = bends(problems["softplus"](1, 0, d=1, a=a, c=c, mu=mu), 400.0 / a)
    assert max(found) == pytest.approx(a / 4 + mu, rel=1e-6)
    assert min(found) == pytest.approx(mu, rel=1e-6)


# Workers that bend differently -----------------------------------------------------------------


def local_descent(problem: Any, gam: float, H: int, rounds: int) -> Any:
    x = problem.start()
    for _ in range(rounds):
        ends = []
        for worker in range(problem.workers):
            own = x.copy()
            for _ in range(H):
                own -= gam * problem.full_gradient(own, worker)
            ends.append(own)
        x = np.mean(ends, axis=0)
    return x


@pytest.mark.parametrize("H", [1, 4, 16])
def test_local_steps_on_heta_end_where_the_theory_says(H):
    gam, spectrum = 0.5, (0.2, 0.5, 1.0)
    problem = problems["heta"](4, 0, spectrum=spectrum, zeta2=0.3)
    found = local_descent(problem, gam, H, 600)
    steps, matrices = np.eye(3), problem.matrices
    shifts = np.array([problem.full_gradient(np.zeros(3), i) for i in range(4)])
    centres = np.linalg.solve(matrices, -shifts[:, :, np.newaxis])[
        :, :, 0
    ]  # of f_i, shift included
    moves = np.array([steps - np.linalg.matrix_power(steps - gam * a, H) for a in matrices])
    fixed = np.linalg.solve(moves.sum(axis=0), np.einsum("ijk,ik->j", moves, centres))
    assert np.abs(found - fixed).max() <= 1e-13
    away = np.linalg.norm(found - problem.optimum)
    assert away <= 1e-13 if H == 1 else away > 1e-3, "only single steps reach the minimum"


def test_heta_is_the_formula_with_exact_constants():
    problem = problems["heta"](3, 0, zeta2=2.0)
    known = problem.constants
    for x in points(10, 5):
        apart = x - problem.centres
        losses = [r @ a @ r / 2 for r, a in zip(apart, problem.matrices, strict=True)]
        assert problem.loss(x) == pytest.approx(np.mean(losses))
    bent, directions = np.linalg.eigh(problem.matrices)
    zero = np.zeros(10)
    for end, bound in ((-1, known.L), (0, known.mu)):
        v = directions[1][:, end]
        turn = problem.full_gradient(v, 1) - problem.full_gradient(zero, 1)
        assert np.linalg.norm(turn) == pytest.approx(bound, rel=1e-9)
    assert (known.L, known.mu) == (pytest.approx(1.0), pytest.approx(0.01))
    near, far = (problem.heterogeneity2(scale * np.ones(10)) for scale in (0.0, 100.0))
    assert far > 100 * near, "no zeta2 holds everywhere"
    assert known.zeta2 is None
    assert problems["heta"](1, 0).constants.zeta2 == 0.0
    again = problems["heta"](3, 9, zeta2=2.0)
    assert np.array_equal(again.matrices, problem.matrices), "the seed draws noise, not the problem"


# Three workers that pull apart -----------------------------------------------------------------


def test_the_largest_entry_alone_makes_bez_diverge_as_known():
    problem = problems["bez"](3, 0)
    gam, x, plain = 0.02, problem.start(), problem.start()
    assert x.tolist() == pytest.approx([1, 1, 1])
    for _ in range(20):
        slopes = [problem.full_gradient(x, worker) for worker in range(3)]
        kept = [np.where(np.abs(s) == np.abs(s).max(), s, 0.0) for s in slopes]
        before = x
        x = x - gam * np.mean(kept, axis=0)
        assert np.linalg.norm(x) / np.linalg.norm(before) == pytest.approx(1 + 11 * gam / 6)
        plain = plain - gam * problem.full_gradient(plain)
    assert np.linalg.norm(plain) < 1.2, "whole gradients do not diverge"


def test_bez_has_the_known_constants():
    problem = problems["bez"](3, 0, sigma2=0.1)
    known = problem.constants
    assert (known.L, known.mu) == (pytest.approx(69 / 2), pytest.approx(1 / 2))
    assert (known.sigma2, known.zeta2, known.f_star) == (0.1, None, 0.0)
    bent = np.linalg.eigvalsh(problem.matrices.mean(axis=0))
    assert bent == pytest.approx([7 / 6, 103 / 6, 103 / 6])
    x = np.array([1.0, 2.0, 3.0])
    pulls = np.array([(-3, 2, 2), (2, -3, 2), (2, 2, -3)])
    assert problem.loss(x) == pytest.approx(np.mean((pulls @ x) ** 2) + x @ x / 4)


@pytest.mark.parametrize("workers", [1, 2, 4, 6])
def test_bez_is_for_three(workers):
    with pytest.raises(ConfigurationError, match=f"3 workers, not {workers}"):
        problems["bez"](workers, 0)
