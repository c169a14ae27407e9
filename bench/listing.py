"""`list`: what there is to choose from; rank 0 prints, the others leave."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from bench.cli import Options
from mpiddl.errors import ConfigurationError

__all__ = ["listing"]

WORKERS = 8  # of the problems whose constants are shown


def listing(options: Options) -> None:
    """Print all names that the command line knows, with their meaning; nothing is sent."""
    from mpiddl.comm.mpi import MPICommunicator

    with MPICommunicator() as comm:
        if comm.rank == 0:
            _print()


def _print() -> None:
    from bench.claims import claims
    from bench.console import open_console
    from bench.networks import NETWORKS
    from bench.tables import listed
    from bench.variants import NAMED
    from mpiddl.problems import problems
    from mpiddl.recipes import meaning, recipes
    from theory.catalogue import THEOREMS

    sections: dict[str, Iterable[tuple[str, str]]] = {
        "variants": NAMED.items(),
        "recipes": [(name, meaning(name)) for name in recipes],
        "problems": [(name, _described(name)) for name in problems],
        "claims": [(name, claims[name].subject.claim) for name in claims],
        "networks": [(name, preset.meaning) for name, preset in NETWORKS.items()],
        "theorems": [(name, theorem.measure.value) for name, theorem in THEOREMS.items()],
    }
    open_console().print(listed(sections))


def _described(name: str) -> str:
    """Return what a problem is good for, its size and constants; unknown ones are left out."""
    from mpiddl.problems import problem, problems

    meaning = (problems[name].__doc__ or "").partition("\n")[0]
    try:
        learnt = problem(name, WORKERS)
    except ConfigurationError:  # it is for another number of workers
        return meaning
    known = {"d": learnt.layout.size} | asdict(learnt.constants)
    numbers = (f"{key} = {value:.4g}" for key, value in known.items() if value is not None)
    return f"{meaning} {', '.join(numbers)}"
