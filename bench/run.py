"""`run`: the table of variants and all claims; rank 0 reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.claims import Budget, claims
from bench.cli import Options
from bench.console import Progress, open_console
from bench.grid import Table, round_up
from bench.header import describe, lines, place
from bench.jobs import Crew, check
from bench.variants import grid_of
from bench.virtual import gradient_seconds
from mpiddl.comm.mpi import MPICommunicator
from mpiddl.errors import ConfigurationError
from mpiddl.problems import problem

__all__ = ["opening", "refuse_together", "run"]


def refuse_together(comm: MPICommunicator, out: Path | None) -> None:
    """Refuse on all ranks if rank 0 cannot write to `out`; collective.

    Raises
    ------
    ConfigurationError
        On every rank alike.
    """
    trouble = None
    if out is not None and comm.rank == 0:
        from bench.files import ready  # rank 0 alone writes, so the others save the memory

        trouble = ready(out)
    trouble = comm.allgather(trouble)[0]
    if trouble is not None:
        raise ConfigurationError(trouble)


def opening(comm: MPICommunicator) -> tuple[Any, dict[str, Any]]:
    """Print the header; return console and header on rank 0, else None and {}; collective."""
    places = comm.gather(place())
    if places is None:
        return None, {}
    console = open_console()
    machine = describe(comm.library, comm.thread_level, places)
    console.print("\n".join(lines(machine)), markup=False)
    return console, machine


def run(options: Options) -> None:
    """Run all variants and claims; collective.

    Raises
    ------
    ConfigurationError
        On all ranks, before training, if the folder cannot be written or a variant cannot run.
    SystemExit
        With 1, on rank 0, if a claim fails or bytes differ from their formula.
    """
    code, compute = 0, options.compute
    with MPICommunicator() as comm:
        refuse_together(comm, options.out)
        learnt = problem(options.problem, comm.size, options.seed)
        steps = round_up(options.steps, options.entries)
        table = Table(options.entries, learnt, steps, options.grid or grid_of(learnt))
        budget = Budget(comm.size, options.seeds, options.seed)
        tests = [job for name in claims for job in claims[name].jobs(budget)]
        check([*table.jobs(), *tests])
        console, machine = opening(comm)
        if console is not None and compute is None:
            compute = gradient_seconds(learnt)
        with Progress(console) as progress:
            crew = Crew(comm, progress)
            found = {**crew.make("variants", table.jobs()), **crew.make("claims", tests)}
            progress.stage("report", 1)
            if console is not None:
                from bench.report import Report

                report = Report(options, table, found, budget, compute or 0.0)
        if console is not None:
            report.save(machine)
            report.show(console)
            code = report.code
    if code:
        raise SystemExit(code)
