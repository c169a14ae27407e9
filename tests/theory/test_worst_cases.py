"""Attained bounds are attained, nine tenths of them are violated, and rates are as claimed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from theory.catalogue import THEOREMS
from theory.slopes import RATES, slopes
from theory.symbols import symbol
from theory.trials import Trial
from theory.worst_cases import TIGHTENED, WORST_CASES, WorstCase, exact_ratios, worst_case


@pytest.mark.parametrize("theorem", WORST_CASES)
def test_attained(theorem: str) -> None:
    worst = worst_case(theorem)
    assert worst is not None
    assert worst.ok
    assert worst.ratio > 0.99
    assert worst.ratio / TIGHTENED > 1, "nine tenths of the bound must be violated"


def test_the_catalogue_says_which_are_attained() -> None:
    assert set(WORST_CASES) == {name for name, t in THEOREMS.items() if t.attained}
    assert worst_case("ef-sgd-nonconvex") is None


def test_a_loose_or_broken_bound_is_not_called_attained() -> None:
    assert not WorstCase("", "", 0.8).ok
    assert not WorstCase("", "", 1.01).ok
    assert not WorstCase("", "", float("nan")).ok


@pytest.mark.parametrize("gam", [0.01, 0.1, 0.5, 1.0, 1.5])
def test_equality_for_every_step_and_T(gam: float) -> None:
    trial = Trial("bsp-sc-const", "iso", n=8, T=300, gam=gam)
    np.testing.assert_allclose(exact_ratios(trial), 1, rtol=1e-9)


@pytest.mark.parametrize("gam", [0.1, 0.5, 1.0, 1.5])
def test_nonconvex_ratio_tends_to_one(gam: float) -> None:
    ratios = exact_ratios(Trial("bsp-nonconvex", "iso", n=4, T=10_000, gam=gam))
    assert 0.999 < ratios[-1] <= 1 + 1e-9


@pytest.mark.parametrize("theorem", RATES)
def test_rates(theorem: str) -> None:
    for found in slopes(theorem):
        assert found.ok, found


def test_every_theorem_with_a_rate_is_measured() -> None:
    assert set(RATES) == {name for name, theorem in THEOREMS.items() if theorem.tuned}
    assert slopes("gossip-consensus") == ()


def test_a_wrong_rate_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound that falls like 1 / (n T) is not what is measured, nor what its rate says."""
    wrong = replace(THEOREMS["bsp-nonconvex"], bound=1 / (symbol("n") * symbol("T")))
    monkeypatch.setitem(THEOREMS, "bsp-nonconvex", wrong)
    for found in slopes("bsp-nonconvex"):
        assert not found.ok
        assert found.expected == pytest.approx(-1)


def test_a_clipped_step_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """With too little noise the recommended step is its largest, and the slope is another."""
    base, long, wide = RATES["bsp-nonconvex"]
    quiet = replace(base, options={**base.options, "sigma2": 1e-6})
    monkeypatch.setitem(RATES, "bsp-nonconvex", (quiet, long, wide))
    assert not any(found.free or found.ok for found in slopes("bsp-nonconvex"))


def test_a_run_that_is_too_short_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    base, _, wide = RATES["bsp-nonconvex"]
    monkeypatch.setitem(RATES, "bsp-nonconvex", (base, (4, 8, 16), wide))
    along_t, along_n = slopes("bsp-nonconvex")
    assert not along_t.ok
    assert along_n.ok


def test_one_noise_for_all_has_no_speedup(monkeypatch: pytest.MonkeyPatch) -> None:
    base, long, wide = RATES["bsp-sc-decreasing"]
    monkeypatch.setitem(RATES, "bsp-sc-decreasing", (replace(base, noise="shared"), long[:2], wide))
    along_t, along_n = slopes("bsp-sc-decreasing")
    assert along_t.ok
    assert not along_n.ok
    assert along_n.measured.value == pytest.approx(0, abs=1e-6)
