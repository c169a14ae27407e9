"""One worker at a time, two neighbours meet: how fast they mix, and what the consensus is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from theory.catalogue import THEOREMS
from theory.measured import measure
from theory.meetings import CLOSED_FORMS, edges, measured_nu, nu
from theory.recursions import simulate
from theory.stages import evaluate
from theory.trials import Trial

NAME = "adpsgd-sync"
RING = Trial(NAME, "nc", n=8, T=200, gam=0.1, topology="ring", order="pairs")
FAR = replace(RING, options={"d": 2, "zeta2": 25.0, "sigma2": 0.5})


@pytest.mark.parametrize("topology", CLOSED_FORMS)
@pytest.mark.parametrize("n", [2, 3, 4, 8, 16])
def test_closed_forms_of_nu(topology: str, n: int) -> None:
    if topology == "hypercube" and n == 3:
        pytest.skip("no corners")
    assert nu(topology, n) == pytest.approx(measured_nu(edges(topology, n), n), abs=1e-12)
    assert nu(topology, 1) == 0


def test_meetings_may_have_any_graph_with_a_closed_form_only() -> None:
    with pytest.raises(ValueError, match="no closed form"):
        nu("lopsided", 4)
    assert len(edges("alone", 4)) == 0
    assert len(edges("complete", 4)) == 6


@pytest.mark.parametrize("topology", CLOSED_FORMS)
def test_the_lemma_is_sharper_than_adding_up_all_turns(topology: str) -> None:
    """Were turns added up like drift, D <= gam^2 G2 nu / (n (1 - sqrt(nu))^2)."""
    for n in (4, 8, 16, 64):
        values = {"n": n, "gam": 1.0, "G2": 1.0, "nu": nu(topology, n)}
        values |= {"T": 1, "L": 1.0, "Delta": 1.0}
        plain = values["nu"] / (n * (1 - np.sqrt(values["nu"])) ** 2)
        assert THEOREMS[NAME].perturbation_at(**values) < 0.7 * plain


@pytest.mark.parametrize("topology", ["ring", "complete"])
def test_the_lemma_says_something(topology: str) -> None:
    """With the second moment that is measured."""
    trial = replace(FAR, topology=topology, T=800)
    found = measure(simulate(trial), trial.steps() / trial.n, trial.oracle())
    measured = {"G2": found.steepness.mean() / trial.n}
    allowed = THEOREMS[NAME].perturbation_at(**trial.values() | measured)
    assert 0.04 < found.spread.mean() / allowed < 1


def test_a_ring_does_not_mix_like_all_pairs() -> None:
    """Negative control: the wrong nu is seen at the consensus, and nowhere else."""
    trial = replace(FAR, topology="complete", T=800, seeds=12)
    stages = evaluate(
        NAME, simulate(replace(trial, topology="ring")), trial.oracle(), trial.values()
    )
    (broken,) = [stage for stage in stages if not stage.ok]
    assert broken.name == "perturbation"
    assert 1.5 < broken.ratio < 3


def test_what_moves_is_one_worker_and_then_two() -> None:
    run = simulate(replace(RING, seeds=1))
    assert np.all((np.abs(run.g[0]).sum(axis=-1) > 0).sum(axis=-1) == 1)
    moved = np.abs(np.diff(run.y[0], axis=0)).sum(axis=-1) > 0
    assert moved.sum(axis=-1).max() <= 3
    np.testing.assert_allclose(run.v[0, :-1], run.y[0].mean(axis=1), atol=1e-14)


def test_a_gradient_of_the_wrong_length_is_seen() -> None:
    """Dividing the step by n, as if the server's model moved, breaks the identity alone."""
    run = simulate(FAR)
    v = FAR.oracle().x0 + (run.v - FAR.oracle().x0) / FAR.n
    stages = evaluate(NAME, replace(run, v=v), FAR.oracle(), FAR.values())
    assert {stage.name for stage in stages if not stage.ok} >= {"identity"}


def test_serial_sgd_where_all_agree() -> None:
    """Two workers on one edge: nu = 0, and consensus after every step."""
    pair = replace(RING, n=2, topology="complete")
    run = simulate(pair)
    assert pair.values()["nu"] == 0
    np.testing.assert_allclose(run.y[:, :, 0], run.y[:, :, 1], atol=1e-14)
