"""All ranks end together, whatever happens on one of them; every job is started for real."""

from __future__ import annotations

import textwrap

import pytest

from tests.launcher import Job, launch, mpirun

pytestmark = pytest.mark.skipif(mpirun() is None, reason="no mpirun beside Python nor on PATH")

WITHIN = 5.0  # seconds from fault to end
HEAD = """
import os, signal, sys, time
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
{body}

main()
"""


@pytest.fixture
def job(tmp_path):
    """Run `body` on some ranks, and check that the job ends soon after it began its work."""

    def run(body: str, ranks: int = 3) -> Job:
        started = tmp_path / "started"
        program = HEAD.format(body=textwrap.indent(textwrap.dedent(body), " " * 4))
        ended = launch(ranks, ["-c", program], 60, {"STARTED": str(started)})
        import time
        age = time.time() - started.stat().st_mtime
        print(ended.all, age)
        return ended

    return run


def test_x(job):
    for body in [
        "if rank == 1: raise ValueError('spoilt batch')\ncomm.rendezvous()",
        "if rank == 1: sys.exit(0)\ncomm.rendezvous()",
        "if rank == 1: sys.exit(3)\ncomm.rendezvous()",
        "if rank == 0: raise ConfigurationError('no such topology')\ncomm.rendezvous()",
        "raise ConfigurationError('no such topology')",
        "e = Diverged('x is not finite'); e.add_note('clock 7'); raise e",
        "raise ValueError('everywhere')",
        "if rank == 2: raise ValueError('late'); ",
        "if rank == 2: time.sleep(3); raise ValueError('late'); ",
        "sys.exit(0)",
        "sys.exit(7)",
        "sys.exit('a message')",
        "ArgumentParser(prog='bench').parse_args(['--nonsense'])",
        "ArgumentParser(prog='bench').parse_args(['--help'])",
        "os.kill(os.getpid(), signal.SIGINT); time.sleep(10)",
        "if rank == 1: os.kill(os.getpid(), signal.SIGINT)\ncomm.rendezvous()",
        "pass",
        "if rank == 1: os.kill(os.getpid(), signal.SIGKILL)\ncomm.rendezvous()",
        "import numpy as np\nif rank==0:\n    comm.isend(np.zeros(1<<20), 1)\nraise Diverged('with sends under way')",
    ]:
        print("=======", body)
        job(body)
