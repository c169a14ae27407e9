"""bench as it is typed: exit codes, one voice, and files that are whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mpiddl
from tests.launcher import launch, mpirun

pytestmark = pytest.mark.skipif(mpirun() is None, reason="no mpirun beside Python nor on PATH")
BENCH = ("-m", "mpiddl.bench")
SMALL = (
    *("--variant", "bsp", "--variant", "ef-sign", "--variant", "asp", "--clocks", "8"),
    *("--seeds", "4", "--compute", "1e-5", "--quick"),
)
MOST_MB = 100  # of a rank that trains, simulates and does not report


@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        (["--help"], 0, "usage:"),
        (["run", "--help"], 0, "usage:"),
        (["--version"], 0, f"mpiddl {mpiddl.__version__}"),
        (["--nosuch"], 2, "--nosuch"),
        (["--variant", "nosuch"], 2, "nosuch"),
        (["--variant", "bsp / gossip:ring / ef+sign / whole / sgd:1"], 2, "remembers"),
        (["--variant", "bsp / ps:servers=3 / identity / whole"], 2, "3 servers leave no rank"),
        (["--network", "/nosuch/net.toml"], 2, "/nosuch/net.toml"),
        (["report", "/nosuch"], 2, "/nosuch"),
        (["--out", "/proc/nosuch"], 2, "/proc/nosuch"),
        (["verify", "--theory", "/nosuch.json"], 2, "/nosuch.json"),
        (["list"], 0, "gossip-consensus"),
    ],
)
def test_one_rank_speaks_and_all_leave_alike(argv, code, said):
    job = launch(3, [*BENCH, *argv], 60)
    assert job.code == code, job.all
    assert (job.out + job.err).count("usage:") <= 1, job.all
    assert said in job.out + job.err, job.all
    assert "Traceback" not in job.err, job.all


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> list[Path]:
    """Two folders that the same command has written."""
    made = [tmp_path_factory.mktemp(name) for name in ("first", "second")]
    for folder in made:
        job = launch(4, [*BENCH, *SMALL, "--out", str(folder)], 180)
        assert job.code == 0, job.all
        assert str(folder) in job.out.splitlines()[-1], job.all
        assert "\x1b" not in job.out, job.all
    return made


def load(folder: Path, name: str):
    return json.loads((folder / f"{name}.json").read_text("utf-8"))


def test_curves_have_bytes_as_predicted(folders):
    curves = load(folders[0], "curves")
    assert {curve["n"] + curve["servers"] for curve in curves} == {4}
    for curve in curves:
        assert curve["bytes"][-1] == curve["bytes_predicted"][-1]
    real = [curve for curve in curves if curve["world"] == "mpi"]
    assert len(real) == 2 * 3
    for curve in real:
        twins = [other for other in curves if other["variant"] == curve["variant"]]
        twins = [o for o in twins if o["seed"] == 0 and o["problem"] == curve["problem"]]
        assert len(twins) == 2
        assert not curve["name"].startswith("bsp") or twins[0]["loss"] == twins[1]["loss"]


def test_claims_are_judged_and_the_machine_is_described(folders):
    verdicts = load(folders[0], "verdicts")
    assert {verdict["outcome"] for verdict in verdicts} == {"HOLDS"}
    machine = load(folders[0], "machine")
    assert machine["ranks"] == 4
    assert machine["peak_mb"]["others"] < MOST_MB
    assert all(row["same"] for row in load(folders[0], "table"))


def test_a_seed_gives_the_same_files_but_for_wall_seconds(folders):
    first, second = (load(folder, "curves") for folder in folders)
    for curves in (first, second):
        curves[:] = [c for c in curves if c["world"] == "simulator" or c["name"] != "asp"]
        for curve in curves:
            if curve["world"] == "mpi":
                curve.pop("seconds")
    assert first == second


NET = "alpha = 1e-3\nbeta = 1e-9\n"


def test_a_network_is_read_from_a_file_by_one_rank(tmp_path):
    """Where ranks would read different files, all believe rank 0."""
    path = tmp_path / "net.toml"
    path.write_text(NET)
    few = ("--problem", "iso", "--variant", "bsp", "--clocks", "4", "--claims", "none")
    job = launch(2, [*BENCH, *few, "--network", str(path), "--out", str(tmp_path)], 100)
    assert job.code == 0, job.all
    assert load(tmp_path, "machine")["run"]["network"]["name"] == "net"
    assert "0.001 s a message" in job.out
    path.write_text("alpha = 1")
    job = launch(2, [*BENCH, *few, "--network", str(path)], 100)
    assert job.code == 2, job.all
    assert job.err.count("no beta") == 1, job.all


@pytest.mark.parametrize("ranks", [1, 5])
def test_any_number_of_ranks_will_do_and_what_cannot_run_is_told(ranks):
    few = (
        "--quick",
        "--problem",
        "breast_cancer",
        "--clocks",
        "4",
        "--claims",
        "same_in_both_worlds",
    )
    job = launch(ranks, [*BENCH, *few], 180)
    assert job.code == 0, job.all
    assert ("2 servers leave no rank" in job.out) is (ranks == 1), job.all
