"""All ranks end together, whatever happens on one of them: every job here is started for real."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from tests.launcher import Job, environment, mpirun

pytestmark = pytest.mark.skipif(mpirun() is None, reason="no mpirun beside Python nor on PATH")


HEAD = """
import os, signal, sys, time
import numpy as np
from mpi4py import MPI
from mpiddl.comm.guard import ArgumentParser, guard
from mpiddl.comm.mpi import MPICommunicator
from mpiddl.errors import ConfigurationError, Diverged

rank = MPI.COMM_WORLD.rank

@guard()
def main():
    comm = MPICommunicator()
    comm.rendezvous()
    open(os.environ["STARTED"], "w").close()
"""


@pytest.fixture
def end(ended, tmp_path):
    """Return what runs a program that starts a fault on three ranks and tells how the job ended."""

    def run(program: str, *before: str) -> Job:
        job = ended(program, 3, *before)
        assert (tmp_path / "started").exists(), job.all
        return job

    return run


def main(body: str) -> str:
    return HEAD + textwrap.indent(body, " " * 4) + "\n\nmain()\n"


ALONE = {  # on rank 1, while the others wait for it: (statement, exit code, said once)
    "an exception": ("raise ValueError('spoilt')", 1, "failed on rank 1 of 3"),
    "a refusal": ("raise ConfigurationError('spoilt')", 2, "error on rank 1 of 3: spoilt"),
    "an exit": ("sys.exit(3)", 3, "rank 1 of 3 left alone: 3"),
    "a clean exit": ("sys.exit(0)", 1, "rank 1 of 3 left alone: 0"),
    "an interrupt": ("os.kill(os.getpid(), signal.SIGINT)", 130, "interrupted"),
    "a return": ("return", 0, ""),  # it waits for the others
}


@pytest.mark.parametrize("what", ALONE)
def test_alone(end, what):
    statement, code, said = ALONE[what]
    others = "time.sleep(2.5)" if what == "a return" else "comm.rendezvous()"
    job = end(main(f"if rank == 1:\n    {statement}\n{others}"))
    assert job.code == code, job.all
    if said:
        assert job.err.count(said) == 1, job.all
    assert job.err.count("Traceback") == (what == "an exception"), job.all


TOGETHER = {  # on all ranks: (statement, exit code, said once)
    "an exception": ("raise ValueError('spoilt')", 1, "ValueError: spoilt"),
    "a refusal": ("raise ConfigurationError('spoilt')", 2, "mpiddl: error: spoilt"),
    "a late refusal": (
        "comm.isend(np.ones(1 << 18), (rank + 1) % 3)\n"
        "error = Diverged('spoilt')\nerror.add_note('clock 7')\nraise error",
        1,
        "mpiddl: error: spoilt (clock 7)",
    ),
    "an exit": ("sys.exit(7)", 7, ""),
    "exits that differ": ("sys.exit(rank)", 2, ""),
    "a message": ("sys.exit('spoilt')", 1, "spoilt"),
    "an interrupt": ("os.kill(os.getpid(), signal.SIGINT)\ntime.sleep(9)", 130, "interrupted"),
    "a wrong option": ("ArgumentParser(prog='x').parse_args(['--no'])", 2, "arguments: --no"),
    "help": ("ArgumentParser(prog='x').parse_args(['-h'])", 0, "usage: x"),
    "a clean exit": ("sys.exit()", 0, ""),
    "nothing": ("comm.close()", 0, ""),
}


@pytest.mark.parametrize("what", TOGETHER)
def test_together(end, what):
    statement, code, said = TOGETHER[what]
    job = end(main(statement))
    assert job.code == code, job.all
    if said:
        assert (job.out + job.err).count(said) == 1, job.all
    assert job.err.count("Traceback") == (what == "an exception"), job.all


def test_who_left_normally_learns_what_befell_the_last(end):
    job = end(main("if rank == 2:\n    time.sleep(1)\n    raise ValueError('spoilt')"))
    assert job.code == 1, job.all
    assert job.err.count("failed on rank 2 of 3") == 1, job.all


def test_a_killed_rank_ends_the_job(end):
    job = end(main("if rank == 1: os.kill(os.getpid(), signal.SIGKILL)\ncomm.rendezvous()"))
    assert job.code not in (0, 1, 2), job.all


PROGRAM = """
import os
import mpiddl
from mpi4py import MPI

size, rank = MPI.COMM_WORLD.size, MPI.COMM_WORLD.rank
problem = mpiddl.problem("breast_cancer", workers=size, seed=0)
kind, batch = type(problem), type(problem).batch

def spoilt(self, worker, step):
    if rank == 1 and step == 3:
        open(os.environ["STARTED"], "w").close()
        raise ValueError("spoilt batch")
    return batch(self, worker, step)

kind.batch = spoilt
mpiddl.run(mpiddl.Run(mpiddl.Variant.parse(
    "bsp / allreduce / identity / whole / sgd:0.1"), problem, clocks=100))
"""


@pytest.mark.parametrize("before", [(), ("-m", "mpi4py")], ids=["plain", "-m mpi4py"])
def test_a_user_program_without_a_guard_ends_too(end, before):
    job = end(PROGRAM, *before)
    assert job.code == 1, job.all
    assert job.err.count("failed on rank 1 of 3") == 1, job.all
    assert job.err.count("ValueError: spoilt batch") == 1, job.all


def test_the_other_launcher_is_noticed_on_every_process(end):
    """As MPICH's mpirun with Open MPI's library, where each process is rank 0 of 1."""
    strange = "open(os.environ['STARTED'], 'w').close()\n"
    strange += "os.environ.update(PMI_SIZE='4', OMPI_COMM_WORLD_SIZE='4')\n"
    job = end(main("print('ran')").replace("main()\n", f"{strange}\nmain()\n"))
    assert job.code == 2, job.all
    assert job.err.count("the launcher started 4 processes") == 1, job.all
    assert "ran" not in job.out, job.all


def test_one_process_needs_no_launcher(tmp_path):
    program = main("comm.agree('it', 1)\ncomm.close()\nprint(comm.size)")
    job = subprocess.run(
        [sys.executable, "-c", program],
        env=environment() | {"STARTED": str(tmp_path / "started")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (job.returncode, job.stdout.strip()) == (0, "1"), job.stderr
