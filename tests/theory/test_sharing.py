"""Push-sum: sums stay, ratios agree, and at which pace."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from theory.recursions import simulate
from theory.sharing import contraction, perron, qualities, shares
from theory.trials import Trial

GRAPHS = ["one_way", "leaves", "ring", "exponential", "complete"]
ONE_WAY = Trial("push-sum", "iso", 8, 60, topology="one_way", start="apart", order="share")


@pytest.mark.parametrize("topology", GRAPHS)
@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_shares_add_up_and_contract(topology: str, n: int) -> None:
    p = shares(topology, n)
    np.testing.assert_allclose(p.sum(axis=0), 1)
    phi = perron(p)
    np.testing.assert_allclose(p @ phi, phi, atol=1e-14)
    assert phi.min() > 0
    slow = np.sort(np.abs(np.linalg.eigvals(p)))[::-1][1:].max(initial=0.0)
    assert slow - 1e-12 <= contraction(p) < 1
    flows = p * phi
    if np.allclose(flows, flows.T):
        assert contraction(p) == pytest.approx(slow, abs=1e-7), "no flow goes round in circles"


def test_one_way_shares_are_not_averages() -> None:
    assert not np.allclose(shares("one_way", 8).sum(axis=1), 1)
    rows = shares("rows", 8)
    np.testing.assert_allclose(rows.sum(axis=1), 1)
    assert not np.allclose(rows.sum(axis=0), 1)
    assert qualities("one_way", 8)["skew"] > 2
    assert qualities("ring", 8)["skew"] == pytest.approx(1)


def test_ratios_agree_on_the_mean_and_models_alone_do_not() -> None:
    run = simulate(ONE_WAY)
    mean = run.y[:, 0].mean(axis=1)
    np.testing.assert_allclose(run.v, np.broadcast_to(mean[:, None], run.v.shape), atol=1e-13)
    apart = np.linalg.norm(run.y - mean[:, None, None], axis=(2, 3))
    assert (apart[:, -1] < 1e-4 * apart[:, 0]).all()
    p = shares("one_way", 8)
    pace = np.sort(np.abs(np.linalg.eigvals(p)))[-2]
    late = (apart[:, -1] / apart[:, 29]) ** (1 / 30)
    np.testing.assert_allclose(late, pace, rtol=0.05)
    alone = simulate(replace(ONE_WAY, order="atc")).y[:, -1]
    np.testing.assert_allclose(alone, 8 * perron(p)[:, None] * mean[:, None], atol=0.01)


def test_an_average_of_what_is_heard_loses_the_mean() -> None:
    run = simulate(replace(ONE_WAY, topology="rows"))
    assert np.abs(run.v[:, -1] - run.v[:, 0]).max() > 0.1
