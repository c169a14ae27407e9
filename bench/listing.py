"""`list`: what there is to choose from; rank 0 prints, the others leave."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from bench.cli import Options
from mpiddl.problems import Problem

__all__ = ["listing"]

WORKERS = 8  # of the problems whose constants are shown


def listing(options: Options) -> None:
    """Print variants, problems, claims, networks and theorems; nothing is sent."""
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
    from mpiddl.problems import problem, problems
    from theory.catalogue import THEOREMS

    sections: dict[str, Iterable[tuple[str, str]]] = {
        "variants": NAMED.items(),
        "problems": [(name, _constants(problem(name, WORKERS))) for name in problems],
        "claims": [(name, claims[name].subject.claim) for name in claims],
        "networks": [(name, preset.meaning) for name, preset in NETWORKS.items()],
        "theorems": [(name, theorem.measure.value) for name, theorem in THEOREMS.items()],
    }
    open_console().print(listed(sections))


def _constants(problem: Problem) -> str:
    """Return size and constants of a problem of `WORKERS` workers; unknown ones are left out."""
    known = {"d": problem.layout.size} | asdict(problem.constants)
    return ", ".join(f"{name} = {value:.4g}" for name, value in known.items() if value is not None)
