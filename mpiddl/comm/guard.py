"""All ranks end together, with one message and one exit code.

Under plain `mpirun -np 4 python train.py` a rank that raises leaves the others waiting for ever,
and so does one that calls `sys.exit`. Inside `guard` the ranks meet at the end: each tells how it
left (normally, by SystemExit, interrupted, refused by mpiddl, crashed), without spinning. Whoever
left normally waits for the others as long as it takes; whoever did not waits `GRACE` seconds.

    all ranks met   the lowest rank with the worst fate speaks, and all leave with its exit code
    alone           the rank speaks, names itself, and aborts the job

Exit codes: 2 for a ConfigurationError, as for bad usage; 1 for other errors; 130 when interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from contextlib import ContextDecorator
from enum import IntEnum
from math import inf
from types import TracebackType
from typing import Any, NoReturn

import numpy as np
from mpi4py import MPI

from mpiddl.comm.aside import patient
from mpiddl.errors import ConfigurationError, MpiddlError

__all__ = ["ArgumentParser", "check_launcher", "duplicate", "guard"]

HEARD = 0.3  # seconds in which a launcher passes on what was said
GRACE = 2.0  # seconds in which ranks that fail alike reach the meeting


class Fate(IntEnum):
    """How a rank left the guarded block, worst last."""

    LEFT = 0
    EXIT = 1
    INTERRUPTED = 2
    REFUSED = 3
    CRASHED = 4


def duplicate(comm: MPI.Intracomm) -> MPI.Intracomm:
    """Return a duplicate of `comm` whose errors raise; collective, waits without spinning.

    Raises
    ------
    ConfigurationError
        If MPI is not running, this thread may not call it, or there is no communicator any more.
    """
    if not MPI.Is_initialized() or MPI.Is_finalized():
        raise ConfigurationError("MPI is not running: call MPI.Init() before, MPI.Finalize() after")
    if MPI.Query_thread() < MPI.THREAD_SERIALIZED and not MPI.Is_thread_main():
        raise ConfigurationError(
            "only the thread that initialised MPI may use mpiddl: set MPI4PY_RC_THREAD_LEVEL="
            "serialized, or call from that thread"
        )
    if comm == MPI.COMM_NULL:
        raise ConfigurationError(
            "this communicator is closed, or this rank is in none of its groups (MPI.COMM_NULL): "
            "make a new one, or let only ranks inside call"
        )
    copy, request = comm.Idup()
    patient(request)
    copy.Set_errhandler(MPI.ERRORS_RETURN)
    return copy


def check_launcher(size: int) -> None:
    """Refuse to run when the launcher started more (or fewer) ranks than the MPI library sees.

    Parameters
    ----------
    size : int
        Size of MPI.COMM_WORLD.

    Raises
    ------
    ConfigurationError
        If launcher and library differ, as when Open MPI's library meets MPICH's mpirun: every
        process then believes that it is rank 0 of 1.
    """
    names = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"]
    if "SLURM_STEP_ID" in os.environ:  # inside srun; in a batch script the variables mean less
        names += ["SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"]
    name = next((name for name in names if os.environ.get(name, "").isdigit()), None)
    if name is not None and int(os.environ[name]) != size:
        library = MPI.Get_library_version().split(",")[0].splitlines()[0]
        raise ConfigurationError(
            f"launcher and MPI library differ: the launcher started {os.environ[name]} processes "
            f"({name}), but {' '.join(library.split())} sees {size}, so these are separate jobs: "
            "use the mpirun of that library; that of a wheel is in "
            f"{os.path.dirname(sys.executable)}"
        )


class ArgumentParser(argparse.ArgumentParser):
    """argparse that speaks on rank 0 only; exits go through `guard`, so that all ranks follow."""

    def _print_message(self, message: str, file: Any = None) -> None:
        if MPI.COMM_WORLD.rank == 0:
            super()._print_message(message, file)


class guard(ContextDecorator):
    """Context manager or decorator inside which all ranks end together.

    Collective on entry and on normal exit. Needs nothing from the command line, in particular not
    `-m mpi4py`. After a failure on any rank it does not return: all ranks leave by SystemExit, or
    the job is aborted.

    Parameters
    ----------
    comm : MPI.Intracomm, optional
        The ranks that must end together; COMM_WORLD if not given. Duplicated.
    reraise : bool
        Raise again what every rank has raised, for callers that may catch it.
    """

    def __init__(self, comm: MPI.Intracomm | None = None, *, reraise: bool = False) -> None:
        self._comm, self._reraise = comm, reraise

    def __enter__(self) -> None:
        self._meeting = duplicate(MPI.COMM_WORLD if self._comm is None else self._comm)
        try:
            check_launcher(MPI.COMM_WORLD.size)
        except ConfigurationError as error:
            self.__exit__(type(error), error, None)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._end(error)
        except KeyboardInterrupt:
            _abort(130)

    def _end(self, error: BaseException | None) -> None:
        rank, size = self._meeting.rank, self._meeting.size
        fate, code = _fate(error)
        fates = np.empty((size, 3), dtype=np.int64)
        mine = np.array([fate, code, -rank], dtype=np.int64)
        met = self._meeting.Iallgather(mine, fates)
        if not patient(met, inf if fate is Fate.LEFT else GRACE):
            if isinstance(error, SystemExit):
                error = SystemExit(f"mpiddl: rank {rank} of {size} left alone: {error.code or 0}")
            _say(error, f" on rank {rank} of {size}")
            _abort(code or 1)
        worst, code, speaker = max(tuple(row) for row in fates.tolist())
        if worst == Fate.LEFT or (self._reraise and fates[:, 0].min() > Fate.LEFT):
            self._meeting.Free()
            return
        if rank == -speaker:
            _say(error, f" on rank {rank} of {size}" if worst == Fate.CRASHED else "")
        # Open MPI kills the job at the first exit that is not 0: leave when all has been said.
        patient(self._meeting.Ibarrier(), GRACE)
        if worst == Fate.CRASHED:
            time.sleep(0 if rank == -speaker else GRACE)
            _abort(code)
        raise SystemExit(code) from None


def _abort(code: int) -> NoReturn:
    """End the job; does not return, though MPI's Abort may: it only asks the launcher."""
    MPI.COMM_WORLD.Abort(code)
    time.sleep(GRACE)
    os._exit(code)


def _fate(error: BaseException | None) -> tuple[Fate, int]:
    if error is None:
        return Fate.LEFT, 0
    if isinstance(error, SystemExit):
        if error.code is None:
            return Fate.EXIT, 0
        return Fate.EXIT, error.code & 0xFF if isinstance(error.code, int) else 1
    if isinstance(error, KeyboardInterrupt):
        return Fate.INTERRUPTED, 130
    if isinstance(error, MpiddlError):
        return Fate.REFUSED, 2 if isinstance(error, ConfigurationError) else 1
    return Fate.CRASHED, 1


def _say(error: BaseException | None, where: str) -> None:
    """Write once, in one piece, why the job ends; notes on the error (the clock, say) included."""
    if isinstance(error, SystemExit):
        text = error.code if isinstance(error.code, str) else ""
    elif isinstance(error, KeyboardInterrupt):
        text = "mpiddl: interrupted"
    elif isinstance(error, MpiddlError):
        notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
        text = f"mpiddl: error{where}: {error}{notes}"
    else:
        import traceback  # only here: most jobs end well

        assert error is not None
        text = f"mpiddl: failed{where}\n" + "".join(traceback.format_exception(error)).rstrip()
    sys.stdout.flush()
    if text:
        print(text, file=sys.stderr, flush=True)
        time.sleep(HEARD)  # an abort may kill the launcher's pipes before it has read them
