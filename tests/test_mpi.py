"""Starts tests/mpi once per number of ranks, each in an MPI job of its own with a time limit."""

from __future__ import annotations

import pytest

from tests.launcher import ROOT, launch, mpirun

PER_TEST = 60  # seconds, then all ranks print their stacks and the job ends
PER_JOB = 400
INNER = [
    *("-m", "pytest", "-x", "-q", "--with-mpi", "--color=no", "-p", "no:cacheprovider"),
    *("-c", str(ROOT / "setup.cfg"), "--rootdir", str(ROOT)),
    *("-o", "faulthandler_exit_on_timeout=true"),
]

pytestmark = pytest.mark.skipif(mpirun() is None, reason="no mpirun beside Python nor on PATH")


@pytest.mark.parametrize("ranks", [1, 2, 3, 5, 8])
def test_on_several_ranks(ranks):
    limit = ["-o", f"faulthandler_timeout={PER_TEST}"]
    job = launch(ranks, [*INNER, *limit, str(ROOT / "tests" / "mpi")], PER_JOB)
    assert job.code == 0, job.all
    assert " passed" in job.out, job.all


BROKEN = {
    "an assertion on one rank": ("assert rank != 1, 'broken on one'", "broken on one"),
    "an assertion on all ranks": ("assert False, 'broken on all'", "broken on all"),
    "sys.exit on one rank": ("if rank == 1: sys.exit(0)", "SystemExit"),
    "a hang": ("if rank == 1: time.sleep(60)", "in test_it"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_test_ends_the_job_and_is_shown(what, tmp_path):
    line, shown = BROKEN[what]
    file = tmp_path / "test_broken.py"
    file.write_text(
        "import sys, time\nimport pytest\n\n@pytest.mark.mpi\ndef test_it(comm):\n"
        f"    rank = comm.rank\n    {line}\n    comm.rendezvous()\n"
    )
    outside = ["-p", "tests.mpi.conftest", "-o", "faulthandler_timeout=4", str(file)]
    job = launch(2, [*INNER, *outside], 60)
    assert job.code != 0, job.all
    assert shown in job.out + job.err, job.all
    assert job.seconds < 30, job.all
