from __future__ import annotations

import json
from dataclasses import replace

import pytest
from rich.console import Console

from bench import report
from bench.claims import Budget, claims
from bench.cli import parse
from bench.grid import Table
from bench.judge import Outcome
from mpiddl.problems import problem


@pytest.fixture(scope="module")
def material(simulated):
    """Options, table and outcomes of a small bench on four ranks."""
    options = parse(["--variant", "bsp", "--variant", "ef-sign", "--seeds", "6"])
    table = Table(options.entries, problem("breast_cancer", 4, 0), 8, (0.3, 1.0, 3.0))
    budget = Budget(4, options.seeds, 0)
    jobs = [job for name in claims for job in claims[name].jobs(budget)]
    return options, table, simulated([*table.jobs(), *jobs]), budget


def make(material, **changes) -> report.Report:
    options, table, found, budget = material
    return report.Report(replace(options, **changes), table, found, budget, 1e-5)


def shown(this: report.Report) -> str:
    console = Console(width=110, file=open("/dev/null", "w"), record=True)
    this.show(console)
    return console.export_text()


def test_all_is_well(material):
    this = make(material)
    assert this.code == 0
    text = shown(this)
    assert "DIFFERS" not in text
    assert text.count("HOLDS") == len(list(claims))
    assert "--out DIR" in text.splitlines()[-1]


def test_a_byte_more_than_predicted_is_shown_and_ends_with_1(material, monkeypatch):
    right = report.per_clock
    wrong = lambda run: replace(right(run), bytes=right(run).bytes + 1)  # noqa: E731
    monkeypatch.setattr(report, "per_clock", wrong)
    this = make(material)
    assert this.code == 1
    assert shown(this).count("DIFFERS") == 2


def test_a_claim_that_fails_ends_with_1(material):
    this = make(material)
    this.verdicts[0] = replace(this.verdicts[0], outcome=Outcome.FAILS)
    assert this.code == 1
    this.verdicts[0] = replace(this.verdicts[0], outcome=Outcome.UNDECIDED)
    assert this.code == 0


def test_files_hold_every_run_with_predictions_beside_measurements(material, tmp_path):
    this = make(material, out=tmp_path)
    this.save({"ranks": 4})
    assert str(tmp_path) in shown(this)
    curves = json.loads((tmp_path / "curves.json").read_text("utf-8"))
    assert len(curves) == len(material[1].jobs())
    for curve in curves:
        assert curve["bytes"] == curve["bytes_predicted"]
        assert sorted(curve["virtual_seconds"]) == curve["virtual_seconds"]
    verdicts = json.loads((tmp_path / "verdicts.json").read_text("utf-8"))
    assert {"claim", "theorem", "predicted", "measured", "low", "high", "outcome", "reason"} == set(
        verdicts[0]
    )
    machine = json.loads((tmp_path / "machine.json").read_text("utf-8"))
    assert machine["ranks"] == 4
    assert machine["run"]["gradient_seconds"] == 1e-5


def test_nothing_is_written_unless_asked_for(material, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make(material).save({})
    assert not list(tmp_path.iterdir())
