"""`cells`: the table of the twelve cells, in virtual time."""

from __future__ import annotations

from pathlib import Path

from bench.cells.results import contents, results
from bench.cells.runs import Setting, aim_at, algorithms, choose, finals, impossible, trials
from bench.console import Progress
from bench.crew import Crew
from bench.grid import learnt
from bench.jobs import check
from bench.networks import is_file, preset, read
from bench.options import Options
from bench.run import opening, refuse_together, told
from bench.variants import grid_of
from mpiddl.comm.mpi import MPICommunicator
from mpiddl.stragglers import parse

__all__ = ["cells"]

PROBLEM, STEPS, SEEDS = "breast_cancer", 96, 3


def cells(options: Options) -> None:
    """Make the runs on all ranks and print the table on rank 0; collective.

    Raises
    ------
    ConfigurationError
        On all ranks, before the first run, if something is of no use.
    """
    parse(options.stragglers, options.seed)  # refuses nonsense
    with MPICommunicator() as comm:
        refuse_together(comm, options.out)
        where = options.network
        network = told(comm, lambda: read(Path(where)) if is_file(where) else preset(where))
        (problem,) = options.problems or (PROBLEM,)
        grid = options.grid or grid_of(learnt(problem, options.workers, options.seed))
        setting = Setting(
            problem,
            options.workers,
            options.steps or STEPS,
            grid,
            options.seed,
            options.seeds or SEEDS,
            network.network,
            options.stragglers,
        )
        left_out = dict(impossible(setting))
        wanted = [one for one in algorithms() if one not in left_out]
        first = trials(setting, wanted)
        check(first)
        console, _ = opening(comm)
        with Progress(console) as progress:
            crew = Crew(comm, progress)
            found = crew.make("step sizes", first)
            aim = told(comm, lambda: aim_at(setting, found, options.target))
            choice = told(comm, lambda: choose(setting, wanted, found, aim))
            found = crew.make("cells", finals(setting, choice))
        if console is None:
            return
        from bench.cells.table import cells_table, others  # rank 0 alone

        some = results(setting, choice, found, aim)
        about = (
            f"{problem}: {setting.workers} workers, {setting.steps} gradients each; a gradient "
            f"takes {setting.stragglers} s; network {network.name}; {setting.seeds} seeds\n"
            f"target: f - f* = {aim.value:.3g}, {aim.meaning}"
        )
        console.print(f"\n{about}\n", markup=False)
        console.print(cells_table(some))
        console.print("\n* the least of the table; time is virtual, bytes are those of all ranks\n")
        console.print(others(some))
        for one, why in left_out.items():
            console.print(f"left out: {one.name}: {why}", markup=False)
        if options.out is not None:
            from bench.cells.files import save

            names = save(options.out, list(contents(some, about)))
            console.print(f"\nwritten to {options.out}: {', '.join(names)}", markup=False)
