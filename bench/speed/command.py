"""The command: measure, print a table, write it down, judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from bench.options import Options
from bench.run import opening, refuse_together
from bench.speed.collectives import RANKS, allreduces
from bench.speed.exchanges import WORKERS, exchanges
from bench.speed.measure import Measure, best
from bench.speed.simulator import messages
from mpiddl.comm.mpi import MPICommunicator
from mpiddl.errors import ConfigurationError

__all__ = ["speed"]

ATTEMPTS = 3


def speed(options: Options) -> None:
    """Measure on all ranks; rank 0 prints.

    Raises
    ------
    ConfigurationError
        On one rank, where nothing can be compared.
    SystemExit
        With 1, if a limit is exceeded.
    """
    with MPICommunicator() as comm:
        if comm.size == 1:
            raise ConfigurationError(
                f"all-reduces are compared on {RANKS} ranks, exchanges on {WORKERS}: mpirun -np "
                f"{RANKS} python -m mpiddl.bench speed"
            )
        refuse_together(comm, options.out and options.out.parent)
        console, machine = opening(comm)
        measures, attempts = _measured(comm)
    if console is None:
        return
    console.print()
    console.print(_table(measures))
    console.print(
        f"\n{comm.size} ranks; median and middle half of the repetitions; the best of "
        f"{attempts} measurements",
        markup=False,
    )
    if options.out is not None:
        from bench.files import write

        rows = [asdict(one) | {"holds": one.holds} for one in measures]
        write(options.out, machine | {"attempts": attempts, "measures": rows})
        console.print(f"written to {options.out}", markup=False)
    if not all(one.holds for one in measures):
        raise SystemExit(1)


def _measured(comm: MPICommunicator) -> tuple[list[Measure], int]:
    """Return the best of several attempts, and how many there were; collective."""
    attempts: list[list[Measure]] = []
    while True:
        rows = [*allreduces(comm), *exchanges(comm)]
        attempts.append([*rows, messages()] if comm.rank == 0 else [])
        measures = best(attempts)
        done = all(one.holds for one in measures) or len(attempts) == ATTEMPTS
        if comm.allgather(done)[0]:
            return measures, len(attempts)


def _table(measures: Sequence[Measure]) -> Any:
    from rich.text import Text

    from bench.tables import number, plain_table

    table = plain_table("what", "median", "middle half", "of", "limit", "verdict")
    for one in measures:
        verdict = Text("HOLDS", "green") if one.holds else Text("FAILS", "bold red")
        limited = one.limit is not None
        table.add_row(
            Text(one.what),
            number(one.median),
            Text(f"[{number(one.low)}, {number(one.high)}]"),
            one.unit,
            f"{'>=' if one.at_least else '<='} {one.limit:,}" if limited else "-",
            verdict if limited else Text("-"),
        )
    return table
