"""`cells`: the table of the twelve cells, in virtual time."""

from __future__ import annotations

from dataclasses import replace

from bench.cells.runs import Cells, Setting
from bench.console import Progress
from bench.crew import Crew
from bench.grid import learnt
from bench.jobs import check
from bench.options import Options
from bench.run import network_of, opening, refuse_together, told
from bench.variants import grid_of
from mpiddl.comm.mpi import MPICommunicator
from mpiddl.comm.simulated import Network
from mpiddl.stragglers import parse

__all__ = ["cells"]


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
        network = network_of(comm, options.network)
        setting = _setting(options, network.network)
        made = Cells(setting)
        check(made.trials())
        console, _ = opening(comm)
        with Progress(console) as progress:
            crew = Crew(comm, progress)
            found = crew.make("step sizes of cells", made.trials())
            choice = told(comm, lambda: made.choose(found, options.target))
            found = crew.make("cells", made.finals(choice))
        if console is None:
            return
        from bench.cells.results import Results  # rank 0 alone
        from bench.cells.table import show

        results = Results(made, choice, found, network.name)
        show(console, results)
        if options.out is not None:
            from bench.cells.files import save

            names = ", ".join(save(options.out, results.contents()))
            console.print(f"\nwritten to {options.out}: {names}", markup=False)


def _setting(options: Options, network: Network) -> Setting:
    """Return what the command line asks for."""
    plain = Setting(network)
    problem = (options.problems or (plain.problem,))[0]
    grid = options.grid or grid_of(learnt(problem, options.workers, options.seed))
    return replace(
        plain,
        problem=problem,
        workers=options.workers,
        steps=options.steps or plain.steps,
        grid=grid,
        seed=options.seed,
        seeds=options.seeds,
        stragglers=options.stragglers,
    )
