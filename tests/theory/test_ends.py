"""Where runs without noise end, to rounding: what makes an implementation an exact one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from theory import ends
from theory.mixing import matrix
from theory.recursions import simulate
from theory.testbed import Floats, Heta, problem
from theory.trials import Trial
from theory.trials.common import BENT

LOCAL = Trial("local-gd-bias", "heta", n=4, T=1600, gam=0.05, options=BENT, seeds=1)


def heta(n: int = 4, **options: float) -> Heta:
    made = problem("heta", n, **BENT | options)
    assert isinstance(made, Heta)
    return made


def local(f: Heta, gam: float, H: int) -> Floats:
    """Local descent, in closed form; without linear terms."""
    moved = np.eye(f.d) - np.linalg.matrix_power(np.eye(f.d) - gam * f.A, H)
    return np.linalg.solve(moved.sum(axis=0), np.einsum("ijk,ik->j", moved, f.b))


def bias(gam: float, H: int) -> float:
    f = heta()
    return float(np.linalg.norm(local(f, gam, H) - f.optimum))


def last(trial: Trial) -> Floats:
    """The models after an exchange at the end of a run, (n, d)."""
    return simulate(replace(trial, T=trial.T + trial.H)).y[0, trial.T]


@pytest.mark.parametrize("H", [1, 4, 16, 64])
@pytest.mark.parametrize("zeta2", [0.0, 2.0])
def test_local_descent_ends_exactly_there(H: int, zeta2: float) -> None:
    f, trial = heta(zeta2=zeta2), replace(LOCAL, H=H, options={**BENT, "zeta2": zeta2})
    end, found = ends.models(f, trial.gam, H, matrix("complete", 4)), last(trial)
    np.testing.assert_allclose(found, end, atol=1e-14)
    if not zeta2:
        np.testing.assert_allclose(end, np.tile(local(f, trial.gam, H), (4, 1)), atol=1e-14)
    missed = np.linalg.norm(found[0] - f.optimum)
    assert (missed < 1e-13) == (H == 1), "only for H = 1 that is the minimum"


def test_the_bias_grows_like_the_step_and_the_round() -> None:
    steps = np.array([1e-4, 2e-4, 4e-4])
    slope = np.polyfit(np.log(steps), np.log([bias(gam, 4) for gam in steps]), 1)[0]
    assert slope == pytest.approx(1, abs=0.01)
    assert bias(1e-4, 9) / bias(1e-4, 5) == pytest.approx(2, rel=0.01), "like H - 1"


@pytest.mark.parametrize("H", [1, 8])
@pytest.mark.parametrize("topology", ["ring", "star", "ring,gamma=0.5", "exponential"])
def test_gossip_ends_exactly_there(topology: str, H: int) -> None:
    trial, f = replace(LOCAL, topology=topology, n=5, H=H), heta(5)
    end = ends.models(f, trial.gam, H, matrix(topology, 5))
    np.testing.assert_allclose(last(trial), end, atol=1e-13)
    assert np.linalg.norm(end.mean(axis=0) - f.optimum) > 1e-4
    assert np.linalg.norm(end - end.mean(axis=0)) > 1e-3


def test_alone_everybody_ends_at_its_own_minimum_and_together_at_that_of_all() -> None:
    f = heta(zeta2=1.0)
    own = ends.models(f, 0.1, 1, np.eye(4))
    np.testing.assert_allclose(f.gradients(own), 0, atol=1e-12)
    together = ends.models(f, 0.1, 1, np.full((4, 4), 0.25))
    np.testing.assert_allclose(together, np.tile(f.optimum, (4, 1)), atol=1e-14)
    told = ends.distances(f, np.tile(f.optimum, (4, 1)))
    assert told["end"] == 0
    assert told["way"] == pytest.approx(np.linalg.norm(f.x0 - f.optimum))
