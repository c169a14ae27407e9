"""Bounds keep their digits where terms nearly cancel."""

from __future__ import annotations

import pytest

from theory.catalogue import THEOREMS

LOCAL = {"n": 4, "T": 8, "H": 4, "L": 1.0, "sigma2": 1.0, "zeta2": 0.0, "Delta": 1.0}


@pytest.mark.parametrize("gam", [1e-6, 1e-8, 1e-9, 1e-12])
@pytest.mark.parametrize("name", ["local-sgd-nonconvex", "local-sgd-nonconvex-iid"])
def test_short_steps_still_part_workers(name: str, gam: float) -> None:
    walk = gam**2 * (1 - 1 / 4) * (4 - 1) / 2  # random walks, averaged over a round
    assert THEOREMS[name].perturbation_at(gam=gam, **LOCAL) == pytest.approx(walk, rel=1e-5)


@pytest.mark.parametrize("mu", [1e-3, 1e-12, 1e-17])
def test_flat_functions_forget_nothing(mu: float) -> None:
    bound = THEOREMS["bsp-sc-const"].at(n=1, T=1, gam=1.0, L=1.0, mu=mu, sigma2=1.0, R2=1.0)
    assert bound == pytest.approx((1 - mu) ** 2 + 1, rel=1e-12)


def test_a_missing_letter_is_named() -> None:
    with pytest.raises(ValueError, match="needs values for: Delta"):
        THEOREMS["bsp-nonconvex"].at(n=1, T=1, gam=1.0, L=1.0, sigma2=1.0)
