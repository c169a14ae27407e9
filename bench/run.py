"""`run`: the tables of variants and all claims; rank 0 reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from bench.cells.runs import Cells, Setting
from bench.cells.runs import Choice as Chosen
from bench.claims import Budget, claims
from bench.console import Progress, open_console
from bench.crew import Crew
from bench.grid import Choice, Table, Terms, learnt, round_up
from bench.header import describe, lines, peak, place
from bench.jobs import Found, check
from bench.networks import Preset, is_file, preset, read
from bench.options import Options
from bench.variants import DEFAULT, SEEDS, STEPS, Entry, entries_of, grid_of
from bench.virtual import gradient_seconds
from mpiddl.comm.mpi import MPICommunicator
from mpiddl.errors import ConfigurationError

__all__ = ["network_of", "opening", "refuse_together", "run", "told"]

T = TypeVar("T")


def told(comm: MPICommunicator, tell: Callable[[], T]) -> T:
    """Return on all ranks what `tell` returns on rank 0, which alone reads and writes; collective.

    Raises
    ------
    ConfigurationError
        On every rank alike, if `tell` does.
    """
    answer: Any = None
    if comm.rank == 0:
        try:
            answer = tell(), None
        except ConfigurationError as error:
            answer = None, str(error)
    value, trouble = comm.allgather(answer)[0]
    if trouble is not None:
        raise ConfigurationError(trouble)
    found: T = value
    return found


def refuse_together(comm: MPICommunicator, out: Path | None) -> None:
    """Raise ConfigurationError on all ranks if rank 0 cannot write to `out`; collective."""

    def try_it() -> None:
        from bench.files import ready  # rank 0 alone writes, so the others save the memory

        trouble = None if out is None else ready(out)
        if trouble is not None:
            raise ConfigurationError(trouble)

    told(comm, try_it)


def network_of(comm: MPICommunicator, text: str) -> Preset:
    """Return the network that `text` names; rank 0 reads it where it is a file; collective."""
    return told(comm, lambda: read(Path(text)) if is_file(text) else preset(text))


def opening(comm: MPICommunicator) -> tuple[Any, dict[str, Any]]:
    """Print the header; return console and header on rank 0, else None and {}; collective."""
    places = comm.gather(place())
    if places is None:
        return None, {}
    console = open_console()
    machine = describe(comm.library, comm.thread_level, places)
    console.print("\n".join(lines(machine)), markup=False)
    return console, machine


def _tables(
    comm: MPICommunicator, options: Options, network: Preset
) -> tuple[list[Table], list[tuple[Entry, str]]]:
    """Return the tables, and the default variants that cannot be run here; collective."""
    tables, left_out = list[Table](), dict[Entry, str]()
    for name in options.problems or DEFAULT:
        whole = learnt(name, comm.size, options.seed)
        compute = options.compute
        if compute is None:
            compute = told(comm, partial(gradient_seconds, whole))
        terms = Terms(comm.size, options.seed, SEEDS[options.quick], network.network, compute)
        grid = options.grid or grid_of(whole, options.quick)
        wanted = options.entries or entries_of(name, options.quick)
        reasons = dict(Table(name, wanted, 1, grid, terms).impossible())
        for entry, reason in reasons.items():
            if entry in options.entries:
                raise ConfigurationError(reason)
        left_out |= reasons
        entries = [entry for entry in wanted if entry not in reasons]
        steps = round_up(options.steps or STEPS[options.quick], entries)
        tables.append(Table(name, entries, steps, grid, terms))
    return tables, list(left_out.items())


def _memory(comm: MPICommunicator) -> dict[str, Any]:
    """Return the most memory that rank 0 and any other has held, on rank 0; collective."""
    peaks = comm.gather(peak())
    if peaks is None:
        return {}
    return {"peak_mb": {"rank 0": peaks[0], "others": max(peaks[1:], default=0.0)}}


def _cells(options: Options, network: Preset) -> Cells | None:
    """Return the twelve cells; None in a hurry, and where something else is asked for."""
    if options.quick or options.entries or options.problems:
        return None
    return Cells(Setting(network.network, seed=options.seed))


def _chosen(
    comm: MPICommunicator, found: Found, tables: Sequence[Table], grid: Cells | None
) -> tuple[list[Choice], tuple[Cells, Chosen] | None]:
    """Return the step sizes of the tables, and of the cells, if there are any; collective."""
    choices = told(comm, lambda: [table.choose(found) for table in tables])
    if grid is None:
        return choices, None
    return choices, (grid, told(comm, lambda: grid.choose(found, None)))


def run(options: Options) -> None:
    """Run all variants and claims; collective.

    Raises
    ------
    ConfigurationError
        On all ranks, before training, if a file or folder is of no use or a variant cannot run.
    SystemExit
        With 1, on rank 0, if a claim fails or something differs that must not.
    """
    code = 0
    with MPICommunicator() as comm:
        refuse_together(comm, options.out)
        network = network_of(comm, options.network)
        tables, left_out = _tables(comm, options, network)
        budget = Budget(comm.size, options.seeds, options.seed, network.network, options.quick)
        tests = [job for name in options.claimed for job in claims[name].jobs(budget)]
        grid = _cells(options, network)
        trials = [*chain(*(table.trials() for table in tables)), *(grid.trials() if grid else ())]
        check([*trials, *tests])
        console, machine = opening(comm)
        with Progress(console) as progress:
            crew = Crew(comm, progress)
            found = crew.make("claims and step sizes", [*tests, *trials])
            choices, cells = _chosen(comm, found, tables, grid)
            finals = [one.finals(steps) for one, steps in zip(tables, choices, strict=True)]
            crew.make("variants", [*chain(*finals), *(cells[0].finals(cells[1]) if cells else ())])
            progress.stage("report", 1)
            machine |= _memory(comm)
            if console is not None:
                from bench.report import Made, Report

                made = Made(tables, choices, left_out, budget, crew.found, crew.seconds, cells)
                report = Report(options, made, network)
                report.save(machine)
        if console is not None:
            report.show(console)
            code = report.code
    if code:
        raise SystemExit(code)
