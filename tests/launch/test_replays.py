"""What MPI made of an asynchronous run is made again by one process; speed on several."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from bench.speed.collectives import CASES, OURS, UNITS
from tests.launcher import ROOT, environment, launch, mpirun

pytestmark = pytest.mark.skipif(mpirun() is None, reason="no mpirun beside Python nor on PATH")
BENCH = ("-m", "mpiddl.bench")

RECORD = """
import sys
from pathlib import Path
import mpiddl
from bench.files import write
from bench.networks import NETWORKS
from bench.replays import content
from mpiddl.comm.mpi import MPICommunicator

LINES = {
    "asp": "asp / ps / ef+topk:0.2 / layerwise / sgd:0.3",
    "ssp": "ssp:2 / ps:servers=1 / identity / whole / sgd:1",
}
with mpiddl.guard(), MPICommunicator() as comm:
    for name, line in LINES.items():
        variant = mpiddl.Variant.parse(line)
        problem = mpiddl.problem("breast_cancer", comm.size - variant.architecture.servers, 3)
        job = mpiddl.Run(variant, problem, clocks=30, every=5)
        result = mpiddl.run(job, comm)
        if comm.rank == 0:
            folder = Path(sys.argv[1]) / "replays"
            folder.mkdir(exist_ok=True)
            said = content(job, result.curve, result.services, NETWORKS["1gbe"], 1e-5)
            write(folder / f"{name}--{problem.name}.json", said)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with what MPI made of two runs."""
    made = tmp_path_factory.mktemp("recorded")
    job = launch(4, ["-c", RECORD, str(made)], 60)
    assert job.code == 0, job.all
    return made


def alone(*arguments):
    """Run bench as one process, without a launcher."""
    return subprocess.run(
        [sys.executable, *BENCH, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment(),
        cwd=ROOT,
    )


def test_one_process_makes_the_runs_again_to_the_bit(folder, tmp_path):
    job = alone("replay", str(folder), "--trace", str(tmp_path / "t.json"))
    assert job.returncode == 0, job
    assert job.stdout.count("yes") == 2, job.stdout
    for name in ("asp", "ssp"):
        trace = json.loads((tmp_path / f"t-{name}--breast_cancer.json").read_text("utf-8"))
        assert trace["traceEvents"]


def test_bench_records_runs_that_do_not_repeat_says_so_and_they_are_made_again(tmp_path):
    words = ["--problem", "breast_cancer", "--clocks", "6", "--grid", "1", "--claims", "none"]
    named = ["--variant", "asp", "--variant", "bsp", "--variant", "ssp-3", "--out", str(tmp_path)]
    job = launch(4, [*BENCH, *words, *named], 60)
    assert job.code == 0, job.all
    assert "do not repeat" in job.out, job.all
    recorded = sorted(path.name for path in (tmp_path / "replays").iterdir())
    assert recorded == ["asp--breast_cancer.json", "ssp-3--breast_cancer.json"]
    again = alone("replay", str(tmp_path))
    assert again.returncode == 0, again
    assert again.stdout.count("yes") == 2, again.stdout


def test_several_ranks_speak_with_one_voice(folder):
    job = launch(3, [*BENCH, "replay", str(folder), "--run", "ssp--breast_cancer"], 60)
    assert job.code == 0, job.all
    assert job.out.count("ssp--breast_cancer") == 1, job.all
    assert "asp--" not in job.out.replace("ssp--", ""), job.all


@pytest.fixture
def spoilt(folder, tmp_path):
    """Return what copies the folder with a change of one file."""

    def change(edit):
        (tmp_path / "replays").mkdir()
        for path in (folder / "replays").iterdir():
            content = json.loads(path.read_text("utf-8"))
            if path.name.startswith("asp"):
                edit(content)
            (tmp_path / "replays" / path.name).write_text(json.dumps(content))
        return tmp_path

    return change


def test_a_curve_that_is_not_that_of_mpi_is_told_with_code_1(spoilt):
    where = spoilt(lambda content: content["curve"]["loss"].__setitem__(3, 0.25))
    job = launch(2, [*BENCH, "replay", str(where)], 60)
    assert job.code == 1, job.all
    assert job.out.count("asp--breast_cancer differs: loss, row 3: recorded 0.25") == 1, job.all
    assert job.out.count("yes") == 1, job.all
    assert "Traceback" not in job.err, job.all


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_folder_without_runs_or_with_a_broken_one_is_refused_once(spoilt, tmp_path, ranks):
    broken = spoilt(lambda content: content.pop("seed"))
    for where, said in ((broken, "has no 'seed'"), (tmp_path / "nosuch", "no recorded run")):
        job = launch(ranks, [*BENCH, "replay", str(where)], 60)
        assert job.code == 2, job.all
        assert job.err.count(said) == 1, job.all
        assert "Traceback" not in job.err, job.all


@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        (["replay"], 2, "DIR"),
        (["replay", ".", "--network", "nosuch"], 2, "nosuch"),
        (["trace", "bsp"], 2, "--out"),
        (["trace", "nosuch", "--out", "t.json"], 2, "nosuch"),
        (["trace", "bsp", "--problem", "nosuch", "--out", "t.json"], 2, "nosuch"),
        (["trace", "bsp", "--out", "/proc/nosuch/t.json"], 2, "/proc/nosuch"),
        (["trace", "bsp", "--network", "/nosuch.toml", "--out", "t.json"], 2, "/nosuch.toml"),
        (["speed"], 2, "mpirun -np 4"),
        (["replay", "--help"], 0, "usage:"),
        (["trace", "--help"], 0, "usage:"),
        (["speed", "--help"], 0, "usage:"),
    ],
)
def test_usage(argv, code, said):
    job = alone(*argv)
    assert job.returncode == code, job
    assert said in job.stdout + job.stderr, job
    assert "Traceback" not in job.stderr, job


def test_any_variant_can_be_traced(tmp_path):
    job = launch(2, [*BENCH, "trace", "bsp", "--out", str(tmp_path / "t.json")], 60)
    assert job.code == 0, job.all
    assert json.loads((tmp_path / "t.json").read_text("utf-8"))["traceEvents"]


def test_speed_writes_what_it_measured(tmp_path):
    file = tmp_path / "speed.json"
    job = launch(2, [*BENCH, "speed", "--json", str(file)], 120)
    assert job.code == 0, job.all  # limits are for four ranks
    measures = json.loads(file.read_text("utf-8"))["measures"]
    rows = [(one["what"], one["unit"]) for one in measures]
    assert len(set(rows)) == len(rows)
    sums = {(f"{name}, {case}", unit) for name in OURS for case in CASES for unit in UNITS}
    assert sums < set(rows)
    assert all(0 < one["low"] <= one["median"] <= one["high"] for one in measures)
