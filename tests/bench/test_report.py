from __future__ import annotations

import json
from dataclasses import replace

import pytest
from rich.console import Console

from bench import rows as bench_rows
from bench.claims import Budget, claims
from bench.cli import parse
from bench.grid import Table, Terms
from bench.jobs import Outcome as Run
from bench.jobs import stale
from bench.networks import NETWORKS
from bench.report import Made, Report
from bench.variants import entry
from bench.verdict import Outcome
from mpiddl.curve import COLUMNS

NETWORK = NETWORKS["10gbe"]
NAMES = ("bsp", "ef-sign", "asp", "top-k")
LEFT = [(entry("bsp / gossip:hypercube / identity / whole"), "it needs 2^m ranks")]
CHEAP = ["linear_speedup", "bytes_on_the_wire", "same_in_both_worlds"]


@pytest.fixture(scope="module")
def material(simulated):
    """Options and everything that a small bench on four ranks has made; MPI is the simulator."""
    options = parse([f"--claims={','.join(CHEAP)}", "--seeds", "6", "--compute", "1e-5"])
    terms = Terms(4, 0, 5, NETWORK.network, 1e-5)
    entries = [entry(name) for name in NAMES]
    tables = [
        Table("breast_cancer", entries, 8, (0.3, 1.0, 3.0), terms),
        Table("digits_mlp", entries[:3], 8, (0.3,), terms),
    ]
    budget = Budget(4, options.seeds, 0)
    found = dict(simulated([job for table in tables for job in table.trials()]))
    choices = [table.choose(found) for table in tables]
    jobs = [job for t, c in zip(tables, choices, strict=True) for job in t.finals(c)]
    jobs += [job for name in options.claimed for job in claims[name].jobs(budget)]
    for key, outcome in simulated(jobs).items():
        real = outcome.curve if outcome.job.mpi else None
        found[key] = replace(outcome, real=real, same=True if real else None)
    return options, Made(tables, choices, LEFT, budget, found, {"variants": 1.5})


def make(material, change=None, **options) -> Report:
    given, made = material
    found = {key: change(outcome) for key, outcome in made.found.items()} if change else made.found
    return Report(replace(given, **options), replace(made, found=found), NETWORK)


def shown(this: Report, width: int = 100) -> str:
    console = Console(width=width, file=open("/dev/null", "w"), record=True)
    this.show(console)
    return console.export_text()


def test_all_is_well(material):
    this = make(material)
    assert this.code == 0
    text = shown(this)
    assert "DIFFERS" not in text
    assert "differ" not in text
    assert text.count("HOLDS") == len(CHEAP)
    assert "--out DIR" in text.splitlines()[-1]
    assert "left out: bsp / gossip:hypercube: it needs 2^m ranks" in text


@pytest.mark.parametrize("width", [80, 100, 140])
def test_tables_fit_and_mark_the_best(material, width):
    this = make(material)
    lines = shown(this, width).splitlines()
    assert max(map(len, lines)) <= width
    for _, own in this.tables.values():
        best = [row for row in own if row.best]
        assert best
        assert best[0].gap.value == min(row.gap.value for row in own)
        assert any(line.startswith(f"* {best[0].entry.name}") for line in lines)


def test_every_row_says_what_to_paste(material):
    this = make(material)
    text = shown(this)
    for row in this.rows:
        line = str(row.first.job.run.variant)
        assert line in text
        assert entry(line).plain == row.first.job.run.variant


def test_intervals_accuracy_staleness_and_edges_are_told(material):
    this = make(material)
    for row in this.rows:
        assert row.gap.low < row.gap.value < row.gap.high
        assert (row.staleness is not None) is (row.entry.name == "asp")
        assert row.edge is (
            row.gam in (0.3, 3.0) and row.first.job.run.problem.name != "digits_mlp"
        )
    accuracies = {name: [row.accuracy for row in own] for name, (_, own) in this.tables.items()}
    assert all(0.1 < accuracy < 1 for accuracy in accuracies["digits_mlp"])
    assert not any(accuracy > 0 for accuracy in accuracies["breast_cancer"])


def test_a_byte_more_than_predicted_is_shown_and_ends_with_1(material, monkeypatch):
    right = bench_rows.per_clock
    wrong = lambda run: replace(right(run), bytes=right(run).bytes + 1)  # noqa: E731
    monkeypatch.setattr(bench_rows, "per_clock", wrong)
    this = make(material)
    assert this.code == 1
    assert shown(this).count("DIFFERS") == len(this.rows)


def test_worlds_that_differ_are_shown_and_end_with_1(material):
    def change(outcome: Run) -> Run:
        wrong = outcome.same and outcome.job.key[2] == entry("asp")
        return replace(outcome, same=False, differs="the column loss") if wrong else outcome

    this = make(material, change)
    assert this.code == 1
    assert shown(this).count("MPI and simulator differ in the column loss") == 2
    verdict = next(one for one in this.verdicts if one.name == "same_in_both_worlds")
    assert verdict.outcome is Outcome.FAILS


def test_a_claim_that_fails_ends_with_1(material):
    this = make(material)
    this.verdicts[0] = replace(this.verdicts[0], outcome=Outcome.FAILS)
    assert this.code == 1
    this.verdicts[0] = replace(this.verdicts[0], outcome=Outcome.UNDECIDED)
    assert this.code == 0


def load(folder, name):
    return json.loads((folder / name).read_text("utf-8"))


@pytest.fixture(scope="module")
def folder(material, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    this = make(material, out=out)
    this.save({"ranks": 4})
    assert str(out) in shown(this)
    return out


def test_curves_hold_every_run_with_predictions_beside_measurements(material, folder):
    curves, made = load(folder, "curves.json"), material[1]
    simulated = [curve for curve in curves if curve["world"] == "simulator"]
    keys = {key for key in made.found if key[0] == "table"}
    assert len(simulated) == len(keys)
    assert len(curves) == len(keys) + sum(map(len, (t.entries for t in made.tables)))
    for curve in curves:
        assert len({len(curve[name]) for name in (*COLUMNS, "bytes_predicted")}) == 1
        if not curve["variant"].startswith("asp"):
            assert curve["bytes"] == curve["bytes_predicted"]
        assert curve["bytes"][-1] == curve["bytes_predicted"][-1]
        assert curve["seconds"] == sorted(curve["seconds"])
    chosen = {(c["problem"], c["name"], c["seed"]) for c in simulated if c["chosen"]}
    assert len(chosen) == 5 * 7


def test_tables_verdicts_and_machine_are_written(folder):
    table = load(folder, "table.json")
    assert {row["problem"] for row in table} == {"breast_cancer", "digits_mlp"}
    for row in table:
        assert row["same"] is True
        assert row["total_bytes"] == row["bytes_formula"] * row["clocks"]
        assert row["gap_low"] < row["gap"] < row["gap_high"]
        assert (row["staleness"] is None) is (row["when"] == "bsp")
        assert row["n"] + row["servers"] == 4
    assert [verdict["name"] for verdict in load(folder, "verdicts.json")] == CHEAP
    machine = load(folder, "machine.json")
    assert machine["ranks"] == 4
    assert machine["stages"] == {"variants": 1.5}
    run = machine["run"]
    assert run["network"]["name"] == "10gbe"
    assert run["gradient_seconds"] == {"breast_cancer": 1e-5, "digits_mlp": 1e-5}
    assert run["problems"]["digits_mlp"]["f_star"] is None
    assert run["problems"]["breast_cancer"]["target"] > 0


def test_asynchronous_runs_can_be_replayed_from_their_files(material, folder):
    names = {path.name for path in (folder / "replays").iterdir()}
    assert names == {"asp--breast_cancer.json", "asp--digits_mlp.json"}
    rows = [row for row in make(material).rows if stale(row.first.job.run)]
    assert len(names) == len(rows)
    assert (folder / "report.html").exists()


def test_replays_of_an_earlier_bench_are_removed(material, tmp_path):
    (tmp_path / "replays").mkdir()
    (tmp_path / "replays" / "old--iso.json").write_text("{}")
    make(material, out=tmp_path).save({"ranks": 4})
    assert "old--iso.json" not in {path.name for path in (tmp_path / "replays").iterdir()}


def test_nothing_is_written_unless_asked_for(material, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make(material).save({})
    assert not list(tmp_path.iterdir())
