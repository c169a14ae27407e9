"""Trials of the theory as runs of mpiddl: kept where nothing is broken, failing where it is."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import numpy as np
import pytest
from rich.console import Console

from bench.jobs import Job
from bench.verify import _compared, _judge, _read, _specs
from bench.verify_report import Entry, report, table
from bench.verify_runs import Spec, arrays, build
from mpiddl.errors import ConfigurationError
from mpiddl.problems.nonconvex import NonConvex
from theory.report import Tried
from theory.stages import Stage
from theory.trials import TRIALS

SPECS = _specs()
SEEDS = 3
# One trial and one control of each kind; under MPI all of them run.
KINDS = {
    (trial.theorem, trial.control and trial.control.what): index
    for index, trial in enumerate(TRIALS)
    if index in SPECS
}
CHOSEN = [
    KINDS[kind]
    for kind in KINDS
    if kind[0] in ("ef-sgd-nonconvex", "gossip-consensus", "local-sgd-nonconvex")
    or kind[0] in ("ef21", "qsgd-nonconvex", "qsgd-nonconvex-shared")
    or kind[0] in ("bsp-sc-decreasing", "bsp-sc-sampling", "dpsgd-nonconvex-cta", "gd-convex")
    or kind[0] in ("post-local-sgd", "local-momentum-G", "composition-G", "one-peer-exp")
    or kind[0] in ("momentum-nonconvex", "delay-stability", "adpsgd-sync")
    or kind[0] in ("d2", "d2-stability", "gradient-tracking", "push-sum")
    or kind[0] in ("local-gd-bias", "gossip-gd-bias")
    or "without noise" in (kind[1] or "")
]


@pytest.mark.parametrize("index", CHOSEN, ids=lambda i: f"{TRIALS[i].theorem}-{i}")
def test_a_run_keeps_every_stage_and_a_control_fails_where_it_must(simulated, index):
    spec, _ = SPECS[index]
    jobs = [Job((index, seed), build(spec, seed), watched=True) for seed in range(SEEDS)]
    (tried,) = _judge({index: (spec, SEEDS)}, simulated(jobs))
    assert tried.ok, tried.stages


@pytest.mark.parametrize("factor", [0.97, 1.03])
def test_a_gradient_that_is_scaled_is_noticed(simulated, monkeypatch, factor):
    """What the noise would hide for hours is plain in a trial without noise."""
    slope = NonConvex._slope

    def scaled(self, x, out, span):
        slope(self, x, out, span)
        out *= factor

    index = next(
        i for i, (s, _) in SPECS.items() if s.problem == "nc" and s.options.get("sigma2") == 0
    )
    spec, _ = SPECS[index]
    jobs = [Job((index, seed), build(spec, seed), watched=True) for seed in range(SEEDS)]
    monkeypatch.setattr(NonConvex, "_slope", scaled)
    (tried,) = _judge({index: (spec, SEEDS)}, simulated(jobs))
    assert "noise" in [stage.name for stage in tried.stages if not stage.ok]


def test_a_run_that_is_not_that_of_the_simulator_is_named(simulated):
    index = KINDS["gossip-consensus", None]
    (outcome,) = simulated([Job(0, build(SPECS[index][0], 0))]).values()
    same = replace(outcome, same=True)
    assert _compared({0: same, 1: same}) == ["2 of 2 runs are those of the simulator, to the bit"]
    told = _compared({0: same, 1: replace(outcome, same=False, differs="the column loss")})
    assert told[0].startswith("1 of 2")
    assert "the column loss" in told[1]


def test_every_theorem_is_tried_and_every_trial_can_be_built():
    assert {TRIALS[index].theorem for index in SPECS} == {trial.theorem for trial in TRIALS}
    for spec, seeds in SPECS.values():
        assert seeds >= 2
        run = build(spec, 0)
        run.check(spec.ranks)
        pushes = spec.n if run.variant.architecture.served else 1  # that make a step of the theorem
        assert run.clocks * run.variant.sync.period * pushes >= spec.T


def test_a_spec_needs_nothing_but_numbers_and_names():
    for spec, _ in SPECS.values():
        for field in fields(Spec):
            value = getattr(spec, field.name)
            assert isinstance(value, int | float | str | dict | type(None)), field.name


def test_what_mpiddl_has_not_is_refused():
    spec, _ = SPECS[CHOSEN[0]]
    for change in ({"compressor": "morse"}, {"topology": "knot"}, {"problem": "none"}):
        values = {field.name: getattr(spec, field.name) for field in fields(Spec)} | change
        with pytest.raises(ConfigurationError):
            build(Spec(**values), 0).check(spec.ranks)


def test_arrays_have_the_shapes_of_the_theory_and_start_where_workers_are_apart(simulated):
    index = KINDS["gossip-consensus", None]
    spec, _ = SPECS[index]
    found = simulated([Job(seed, build(spec, seed), watched=True) for seed in range(2)])
    did = arrays(spec, list(found.values()))
    assert did.y.shape == did.g.shape == (2, spec.T, spec.n, 10)
    assert did.v.shape == (2, spec.T + 1, 10)
    assert not did.g.any()
    assert np.ptp(did.y[:, 0], axis=1).min() > 0


def test_a_file_that_is_no_report_is_named(tmp_path):
    path = tmp_path / "theory.json"
    assert str(path) in _read(path)[1]
    for text in ("", "{}}", "[1]", '[{"no": "name"}]'):
        path.write_text(text)
        assert str(path) in _read(path)[1], text
    path.write_text('[{"name": "x"}]')
    assert _read(path) == ([{"name": "x"}], None)


def theory(ok: bool = True) -> dict:
    return {
        "name": "bsp-nonconvex",
        "problems": [] if ok else ["broken on paper"],
        "symbolic": {"derived": True, "steps": [1, 2], "mutants": 3, "noticed": 3},
        "slopes": [{"measured": {"value": -1.0}}],
        "runs": [{"stages": [{"name": "noise", "low": "nan", "limit": 1.0}]}],
        "controls": [{"ok": True}],
    }


def tried(index: int, high: float) -> Tried:
    stages = (Stage("conditions", 0, 0, 0, 0.0), Stage("noise", high, high, high, 1.0))
    return Tried(TRIALS[index], stages, None)


RUN = KINDS["bsp-nonconvex", None]
CONTROL = next(index for (name, what), index in KINDS.items() if name == "bsp-nonconvex" and what)


@pytest.mark.parametrize(
    ("on_paper", "run", "control", "problems"),
    [
        (theory(), 0.9, 8.0, 0),
        (theory(ok=False), 0.9, 8.0, 1),
        (None, 0.9, 8.0, 1),
        (theory(), 1.1, 8.0, 1),
        (theory(), 0.9, 0.9, 1),  # a control that passes is a failure
    ],
)
def test_an_entry_says_what_is_wrong(on_paper, run, control, problems):
    entry = Entry("bsp-nonconvex", on_paper, [tried(RUN, run), tried(CONTROL, control)])
    assert len(entry.problems) == problems
    assert entry.as_dict()["ok"] is not bool(problems)
    console = Console(width=110, file=open("/dev/null", "w"), record=True)
    console.print(table([entry]))
    assert ("FAILS" in console.export_text()) is bool(problems)


def test_the_report_is_written_and_a_theorem_without_runs_fails(tmp_path):
    console = Console(width=110, file=open("/dev/null", "w"))
    assert report(console, tmp_path, {"ranks": 8}, [theory()], [tried(RUN, 0.9)]) == 1
    written = json.loads((tmp_path / "theory-report.json").read_text("utf-8"))
    assert written["machine"] == {"ranks": 8}
    assert {entry["name"] for entry in written["theorems"]} == {t.theorem for t in TRIALS}
    first = next(entry for entry in written["theorems"] if entry["name"] == "bsp-nonconvex")
    assert first["mpi"]["runs"][0]["ok"]
    assert first["theory"]["symbolic"]["derived"]
