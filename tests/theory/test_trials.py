"""Every trial behaves as promised: runs keep their bounds, controls fail where they must."""

from __future__ import annotations

from dataclasses import replace

import pytest

from theory.catalogue import THEOREMS
from theory.report import try_out
from theory.trials import TRIALS, Trial


def label(trial: Trial) -> str:
    return f"{trial.theorem} {trial.problem} {trial.control.what if trial.control else ''}"


@pytest.mark.parametrize("trial", TRIALS, ids=label)
def test_trial(trial: Trial) -> None:
    tried = try_out(trial)
    assert tried.ok, tried.stages


@pytest.mark.parametrize("trial", [t for t in TRIALS if t.control is None], ids=label)
def test_one_worker_keeps_every_bound(trial: Trial) -> None:
    alone = replace(trial, n=1, topology="complete")
    tried = try_out(alone)
    assert tried.ok, tried.stages


def test_every_theorem_is_tried_and_broken() -> None:
    assert {t.theorem for t in TRIALS if t.control is None} == set(THEOREMS)
    assert {t.theorem for t in TRIALS if t.control is not None} == set(THEOREMS)


def test_every_stage_that_can_break_is_broken() -> None:
    broken = {t.control.fails for t in TRIALS if t.control is not None}
    assert broken == {
        "conditions",
        "identity",
        "noise",
        "unbiased",
        "contraction",
        "compression",
        "faithful",
        "perturbation",
        "delays",
        "steepness",
        "reach",
        "views",
        "bound",
        "end",
    }


def test_trials_are_small_enough_for_real_processes() -> None:
    for trial in TRIALS:
        assert trial.n <= 8
        for one in (trial, trial.real()):
            assert (one.T - one.after) % one.H == 0
        assert trial.seeds * trial.T / trial.H <= 5000, "clocks, a millisecond each"


@pytest.mark.parametrize("trial", [t for t in TRIALS if t.control and t.control.run], ids=label)
def test_a_control_that_is_repaired_is_noticed(trial: Trial) -> None:
    """Negative control of the controls: with nothing broken, none of them is caught."""
    assert trial.control is not None
    assert try_out(trial).ok
    repaired = replace(trial, control=replace(trial.control, run={}))
    assert not try_out(repaired).ok
