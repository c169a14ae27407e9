"""`report DIR`: the page of a bench, made again from the files that it left."""

from __future__ import annotations

from bench.cli import Options
from mpiddl.comm.mpi import MPICommunicator

__all__ = ["report"]


def report(options: Options) -> None:
    """Make the page on rank 0 and say where it is.

    Raises
    ------
    ConfigurationError
        If a file of the folder is missing or broken.
    """
    with MPICommunicator() as comm:
        first = comm.rank == 0
    if first and options.out is not None:
        from bench.console import open_console
        from bench.html import write_report

        open_console().print(f"written: {write_report(options.out)}", markup=False, soft_wrap=True)
