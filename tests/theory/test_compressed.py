"""Compression: what is said, what is lost, and the theorems about it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

from theory.catalogue import THEOREMS
from theory.compressed import LOUD, compress, qualities, second_moments
from theory.derivation import Proof, Refused
from theory.forms import Claim, Scalar, Vector, inner
from theory.lemmas import LOSS, NOISE, drop_noise
from theory.measured import measure
from theory.moments import linear, moments
from theory.positivity import Domain
from theory.potential import potential
from theory.recursions import simulate
from theory.stages import evaluate
from theory.symbols import symbol
from theory.theorem import Theorem
from theory.trials import Control, Trial

n, T, gam, L, mu, delta = (symbol(x) for x in ("n", "T", "gam", "L", "mu", "delta"))
R2, sigma2, omega, Delta = (symbol(x) for x in ("R2", "sigma2", "omega", "Delta"))

MASK = Trial("qsgd-nonconvex", "spec", 4, 60, 0.2, {"zeta2": 1.0}, compressor="randk", k=3)
MASK = replace(MASK, memory=False)
NEWS = Trial("ef21", "nc", 4, 100, 0.25, {"sigma2": 0.0, "zeta2": 1.0}, compressor="topk", k=5)
NEWS = replace(NEWS, refers=True, seeds=2)


def broken(trial: Trial, **values: float) -> set[str]:
    found = evaluate(trial.theorem, simulate(trial), trial.oracle(), trial.values() | values)
    return {stage.name for stage in found if not stage.ok}


# --- compressors ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "k"), [("randk", 3), ("randk", 10), ("qsgd", 1), ("qsgd", 4)])
def test_what_is_lost_is_noise_of_the_promised_size(name: str, k: int) -> None:
    rng = np.random.default_rng(0)
    p = np.ones(10) if name == "qsgd" and k == 1 else rng.standard_normal(10)
    said = compress(name, k, np.broadcast_to(p, (40_000, 10)), rng.random((40_000, 10)))
    error = said.mean(axis=0) - p
    assert np.all(np.abs(error) <= 5 * said.std(axis=0) / 200 + 1e-12)
    lost = float(((said - p) ** 2).sum(axis=1).mean() / (p @ p))
    promised = qualities(name, k, 10)["omega"]
    assert lost <= promised * 1.03 + 1e-12
    if name == "randk" or k == 1:  # attained: by every vector, or by equal magnitudes
        assert lost == pytest.approx(promised, rel=0.03, abs=1e-12)


def test_levels_are_levels_and_masks_are_masks() -> None:
    rng = np.random.default_rng(1)
    p, u = rng.standard_normal((50, 8)), rng.random((50, 8))
    levels = compress("qsgd", 3, p, u) * 3 / np.linalg.norm(p, axis=1, keepdims=True)
    np.testing.assert_allclose(levels, np.round(levels), atol=1e-12)
    assert np.all(np.count_nonzero(compress("randk", 3, p, u), axis=1) == 3)
    assert not compress("qsgd", 3, np.zeros((1, 8)), u[:1]).any()
    np.testing.assert_allclose(compress("loud", 3, p), LOUD * compress("topk", 3, p))


@pytest.mark.parametrize("masks", ["own", "shared"])
def test_moments_of_masks_are_those_of_runs(masks: str) -> None:
    trial = replace(MASK, masks=masks, seeds=400)
    assert linear(trial)
    squares = simulate(trial).v ** 2
    exact = second_moments(trial, trial.oracle())
    error = squares.std(axis=0) / np.sqrt(trial.seeds)
    assert np.all(np.abs(squares.mean(axis=0) - exact) <= 5 * error + 1e-12)
    assert moments(trial).spread.max() == 0


def test_masks_have_moments_only_where_nothing_else_is_broken() -> None:
    for change in (
        {"noise": "shared"},
        {"compressor": "qsgd"},
        {"memory": True},
        {"problem": "nc"},
    ):
        assert not linear(replace(MASK, options={}, **change))


# --- stages ---------------------------------------------------------------------------------------


def test_one_mask_is_seen_at_the_compression_where_gradients_agree() -> None:
    quiet = replace(MASK, options={"sigma2": 0.0})
    assert broken(quiet) == set()
    assert "compression" in broken(replace(quiet, masks="shared"))


def test_every_kind_of_bias_is_seen() -> None:
    """What is sent is shrunk, always the same entries, or shifted."""
    run, oracle, values = simulate(MASK), MASK.oracle(), MASK.values()
    assert run.said is not None
    same = np.where(np.arange(10) < 3, 10 / 3 * run.g, 0.0)
    for said in (0.5 * run.said, same, run.said + 0.7):
        found = evaluate(MASK.theorem, replace(run, said=said), oracle, values)
        assert "faithful" in {stage.name for stage in found if not stage.ok}


def test_a_smaller_omega_is_seen_at_the_compression() -> None:
    assert "compression" in broken(MASK, omega=1.5)


def test_news_that_are_lost_are_seen_at_the_contraction() -> None:
    assert broken(NEWS) == set()
    assert broken(NEWS, delta=0.9) >= {"contraction"}
    control = Control("", "", {"refers": False, "memory": False})
    assert broken(replace(NEWS, control=control)) >= {"contraction", "perturbation"}


def test_smoother_gradients_than_they_are_are_seen() -> None:
    assert broken(NEWS, Ltil=0.5) >= {"smoothness"}


def test_what_was_said_must_be_recorded() -> None:
    run = simulate(MASK)
    silent = replace(run, said=None)
    with pytest.raises(ValueError, match="not recorded"):
        evaluate(MASK.theorem, silent, MASK.oracle(), MASK.values())
    with pytest.raises(ValueError, match="not recorded"):
        _ = measure(silent, MASK.steps(), MASK.oracle()).words
    assert run.said is not None
    short = replace(run, said=run.said[:, :-1])
    with pytest.raises(ValueError, match="disagree"):
        evaluate(MASK.theorem, short, MASK.oracle(), MASK.values())


# --- theorems -------------------------------------------------------------------------------------


def below(theorem: Theorem, conditions: tuple[sp.Rel, ...], larger: sp.Expr) -> bool:
    """Whether `conditions` are enough for `theorem`, and its bound is at most `larger` there."""
    domain = Domain(conditions)
    enough = all(domain.implies(condition) for condition in theorem.conditions)
    return enough and domain.nonnegative(larger - theorem.bound.subs(symbol("zeta2"), 0))


def test_bounds_are_below_simpler_ones() -> None:
    short = (sp.Le(gam, delta / (10 * L)),)
    rest = 8 * gam**2 * L * (1 - delta) * sigma2 / delta
    convex = 2 * R2 / (gam * T) + 2 * gam * sigma2 / n + rest
    assert below(THEOREMS["ef-sgd-convex"], short, convex)
    assert not below(THEOREMS["ef-sgd-convex"], short, convex / 5)
    assert not below(THEOREMS["ef-sgd-convex"], (gam * L <= 1,), convex)
    noise = 2 * gam * sigma2 / mu * (1 / n + 12 * gam * L * (1 - delta) / delta)
    slower = (1 - gam * mu) ** T * R2 + noise
    assert below(THEOREMS["ef-sgd-sc"], short, slower)
    assert not below(THEOREMS["ef-sgd-sc"], short, slower / 5)


def test_more_workers_average_own_losses_away_but_not_shared_ones() -> None:
    values = {"T": 100, "gam": 1e-3, "L": 1.0, "Delta": 0.0, "sigma2": 1.0, "zeta2": 0.0}
    own, shared = (THEOREMS[f"qsgd-nonconvex{x}"] for x in ("", "-shared"))
    at = [[t.at(**values, n=k, omega=9.0) for k in (1, 100)] for t in (own, shared)]
    assert at[0][0] == pytest.approx(at[1][0])
    assert at[0][1] < at[1][1]
    assert own.holds(**values | {"gam": 0.5}, n=100, omega=9.0) == []
    assert shared.holds(**values | {"gam": 0.5}, n=100, omega=9.0) != []


def test_a_loss_is_not_known_before_the_noise() -> None:
    """Negative control: orthogonality of noise to what came before says nothing of losses."""
    product = Claim(inner(LOSS, NOISE.part("mean")))
    assert drop_noise(Proof(Domain()), product).form.terms
    assert not drop_noise(Proof(Domain()), Claim(inner(Vector.mean("h"), NOISE))).form.terms


def test_a_weight_must_not_be_negative() -> None:
    parts = {Scalar("A"): sp.Integer(1), Scalar("B"): gam - 1 / L}
    assert potential(Proof(Domain([gam * L >= 1])), Scalar("V"), parts).equality
    with pytest.raises(Refused, match="weight"):
        potential(Proof(Domain([gam * L <= 1])), Scalar("V"), parts)


def test_roots_of_shares_are_shares() -> None:
    root = sp.sqrt(1 - delta)
    assert Domain().nonnegative(1 - root)
    assert Domain().nonnegative((1 - delta) / (1 - root))
    assert not Domain().nonnegative(root - delta)
    assert not Domain().nonnegative(1 - sp.sqrt(1 + delta))
