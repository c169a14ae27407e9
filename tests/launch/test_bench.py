"""bench as it is typed: exit codes, one voice, and files that are whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mpiddl
from tests.launcher import launch, mpirun

pytestmark = pytest.mark.skipif(mpirun() is None, reason="no mpirun beside Python nor on PATH")
BENCH = ("-m", "mpiddl.bench")
SMALL = ("--variant", "bsp", "--variant", "ef-sign", "--clocks", "8", "--seeds", "4")


@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        (["--help"], 0, "usage:"),
        (["run", "--help"], 0, "usage:"),
        (["--version"], 0, f"mpiddl {mpiddl.__version__}"),
        (["--nosuch"], 2, "--nosuch"),
        (["--variant", "nosuch"], 2, "nosuch"),
        (["--variant", "bsp / gossip:ring / ef+sign / whole / sgd:1"], 2, "remembers"),
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
        job = launch(4, [*BENCH, *SMALL, "--compute", "1e-5", "--out", str(folder)], 120)
        assert job.code == 0, job.all
        assert str(folder) in job.out.splitlines()[-1], job.all
        assert "\x1b" not in job.out, job.all
    return made


def load(folder: Path, name: str):
    return json.loads((folder / f"{name}.json").read_text("utf-8"))


def test_curves_have_bytes_as_predicted(folders):
    curves = load(folders[0], "curves")
    assert {curve["n"] for curve in curves} == {4}
    for curve in curves:
        assert curve["bytes"] == curve["bytes_predicted"]
        assert len(curve["virtual_seconds"]) == len(curve["clock"])
    assert sum(curve["chosen"] for curve in curves) == 2


def test_claims_are_judged_and_the_machine_is_described(folders):
    verdicts = load(folders[0], "verdicts")
    assert {verdict["outcome"] for verdict in verdicts} == {"HOLDS"}
    assert load(folders[0], "machine")["ranks"] == 4


def test_a_seed_gives_the_same_files_but_for_wall_seconds(folders):
    first, second = (load(folder, "curves") for folder in folders)
    for curve in first + second:
        curve.pop("seconds")
    assert first == second
    assert load(folders[0], "verdicts") == load(folders[1], "verdicts")
