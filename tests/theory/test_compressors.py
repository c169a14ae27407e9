"""Constants of compressors: proved, never violated, attained where it is said, and no smaller."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from theory.compressed import compress, qualities
from theory.compressors import CONSTANTS, HALF, TINY, Constant
from theory.outcomes import SAID, adversaries, allowed, objections, shares


def most(name: str, b: int, parameter: int) -> float:
    return allowed(CONSTANTS[name], b, parameter)


@pytest.mark.parametrize("name", CONSTANTS)
def test_proved_never_violated_and_attained_where_it_is_said(name: str) -> None:
    assert objections(name, CONSTANTS[name]) == []
    assert CONSTANTS[name].proof.__doc__
    assert set(SAID) == set(CONSTANTS)


@pytest.mark.parametrize("name", [x for x in CONSTANTS if x not in ("identity", "fp16", "bf16")])
def test_a_wrong_constant_is_refused(name: str) -> None:
    """Negative control: half of omega, or half of what may be lost; and what is never attained."""
    right = CONSTANTS[name]
    half = right.value / 2 if right.unbiased else (1 + right.value) / 2
    assert any("violated" in why for why in objections(name, replace(right, value=half)))
    loose = 2 * right.value if right.unbiased else right.value / 2
    wrong = objections(name, replace(right, value=loose))
    assert any("not attained" in why for why in wrong) is bool(right.attained)
    assert "not proved" in objections(name, replace(right, proof=lambda: False))


def test_a_biased_compressor_is_refused() -> None:
    wrong = Constant(True, CONSTANTS["topk"].value, "", lambda: True)
    assert any("biased" in why for why in objections("topk", wrong))


def test_a_random_search_does_not_do_better() -> None:
    """Climb from random vectors: more levels come close to their bound, and never above."""
    rng = np.random.default_rng(3)
    for b, s in ((4, 2), (16, 2), (16, 4)):
        x, best = rng.random((200, b)), np.zeros(200)
        for _ in range(300):
            other = np.abs(x + rng.normal(scale=0.1, size=x.shape))
            found = shares("qsgd, s > 1", other, s)
            x = np.where((found > best)[:, None], other, x)
            best = np.maximum(best, found)
        bound = most("qsgd, s > 1", b, s)
        assert 0.6 * bound < best.max() <= bound + 1e-12


@pytest.mark.parametrize(
    ("name", "run", "k"),
    [("topk", "topk", 3), ("sign", "sign", 0), ("randk", "randk", 3), ("identity", "identity", 0)]
    + [("qsgd, s = 1", "qsgd", 1), ("qsgd, s > 1", "qsgd", 4)],
)
def test_trials_claim_what_is_proved(name: str, run: str, k: int) -> None:
    for b in (3, 10, 100):
        claimed = qualities(run, k, b)["omega" if CONSTANTS[name].unbiased else "delta"]
        assert claimed == pytest.approx(CONSTANTS[name].at(b=b, k=k, s=k), rel=1e-14)


def test_one_level_is_better_than_the_bound_of_more() -> None:
    for b in (1, 2, 4, 100):
        assert most("qsgd, s = 1", b, 1) <= most("qsgd, s > 1", b, 1) + 1e-12


def test_the_sign_of_a_vector_keeps_what_its_norms_say() -> None:
    x = adversaries(8, 2, np.random.default_rng(4))
    kept = np.abs(x).sum(axis=1) ** 2 / (8 * (x**2).sum(axis=1))
    np.testing.assert_allclose(shares("sign", x, 0), 1 - kept, atol=1e-12)
    assert kept.min() == pytest.approx(1 / 8)


@pytest.mark.parametrize(
    ("name", "drawn", "parameter"), [("randk", "randk", 2), ("qsgd, s > 1", "qsgd", 2)]
)
def test_draws_have_these_outcomes(name: str, drawn: str, parameter: int) -> None:
    """What the recursions say at random has this mean and this loss."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal(6)
    said = compress(drawn, parameter, np.broadcast_to(x, (40_000, 6)), rng.random((40_000, 6)))
    mean, loss = SAID[name](x[None], parameter)
    np.testing.assert_allclose(said.mean(axis=0), mean[0], atol=0.03)
    assert ((said - x) ** 2).sum(axis=1).mean() == pytest.approx(loss[0], rel=0.02)


# --- half precision -------------------------------------------------------------------------------


def test_all_halves() -> None:
    """Halfway between any two neighbours, where rounding is worst: HALF/(1 + HALF), or TINY."""
    halves = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64)
    between = (halves[:-1] + halves[1:]) / 2
    moved = np.abs(between.astype(np.float16).astype(np.float64) - between)
    normal = between > 2.0**-14
    worst = float(HALF / (1 + HALF))
    assert (moved[normal] / between[normal]).max() == pytest.approx(worst, rel=1e-12)
    assert worst < float(HALF)
    assert moved[~normal].max() == float(TINY)


def test_halves_lose_what_they_may_and_not_much_less() -> None:
    x = np.full((1, 64), 1 + 2.0**-11)
    bound = most("fp16", 64, 1)
    assert 0.99 * bound < shares("fp16", x, 0)[0] <= bound


@pytest.mark.parametrize("size", [1e-9, 1e9])
def test_without_a_common_scale_nothing_is_guaranteed(size: float) -> None:
    """Negative control: below the smallest half all is lost, above the largest it is infinite."""
    x = np.full((1, 4), size)
    with np.errstate(over="ignore"):
        plain = x.astype(np.float16).astype(np.float64)
    lost = ((plain - x) ** 2).sum() / (x**2).sum()
    assert not lost < 1
    assert shares("fp16", x, 0)[0] <= most("fp16", 4, 1)
