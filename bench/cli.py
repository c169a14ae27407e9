"""The command line: read on every rank, before any message, and refused on all ranks alike."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import mpiddl
from bench.networks import NETWORKS, network
from bench.variants import NAMED, QUICK, Entry, entry
from mpiddl.comm.guard import ArgumentParser
from mpiddl.comm.simulated import Network
from mpiddl.errors import ConfigurationError
from mpiddl.problems import problems

__all__ = ["Options", "parse"]

T = TypeVar("T")
COMMANDS = ("run", "list", "verify")
DEFAULT, QUICK_GRID = "breast_cancer", (0.3, 1.0, 3.0)
ABOUT = """\
Runs distributed SGD variants under MPI and judges what theory claims about them.

  mpirun -np 32 python -m mpiddl.bench            all variants and claims: the command run
  mpirun -np 32 python -m mpiddl.bench --quick    less of it, in half a minute
  python -m mpiddl.bench list                     what there is to choose from
  mpirun -np 8 python -m mpiddl.bench verify --theory FILE
                                                  every theorem's trials, run for real"""


@dataclass(frozen=True)
class Options:
    """What the command line says; `theory` belongs to verify, the others to run.

    Parameters
    ----------
    command : str
        run, list or verify.
    problem : str
        What the variants learn.
    entries : tuple of Entry
        The variants.
    steps : int
        Gradients per worker: clocks of a variant that speaks after every step.
    grid : tuple of float or None
        Step sizes; None: those of the problem.
    seed, seeds : int
        The one seed of the table, and how many repetitions of each claim start with it.
    network, network_name : Network, str
        The network of virtual time.
    compute : float or None
        Virtual seconds of a gradient; None: measured.
    out : Path or None
        The folder to write to; None: nothing is written.
    theory : Path or None
        What `python -m theory verify --json` wrote.
    """

    command: str
    problem: str = DEFAULT
    entries: tuple[Entry, ...] = ()
    steps: int = 64
    grid: tuple[float, ...] | None = None
    seed: int = 0
    seeds: int = 8
    network: Network = NETWORKS["10gbe"].network
    network_name: str = "10gbe"
    compute: float | None = None
    out: Path | None = None
    theory: Path | None = None


def _reader(read: Callable[[str], T]) -> Callable[[str], T]:
    """Let argparse print what a ConfigurationError says."""

    def reader(text: str) -> T:
        try:
            return read(text)
        except ConfigurationError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return reader


def _whole(least: int, text: str) -> int:
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"a whole number of at least {least}, found {text!r}")
    return int(text)


def _steps(text: str) -> tuple[float, ...]:
    try:
        found = sorted({float(word) for word in text.split(",")})
    except ValueError:
        found = []
    if not found or not all(0 < step < float("inf") for step in found):
        raise argparse.ArgumentTypeError(f"step sizes above 0, as in 0.1,0.3,1; found {text!r}")
    return tuple(found)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"seconds of at least 0, found {text!r}")
    return seconds


def _problem(text: str) -> str:
    problems[text]  # refuses an unknown name
    return text


def _add_run(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--problem", type=_reader(_problem), default=DEFAULT, help="default: %(default)s")
    add(
        "--variant",
        type=_reader(entry),
        action="append",
        metavar="TEXT",
        help="a name from list, or a line: four parts are tried with every step size, five run "
        "as they stand; repeatable; default: all of list",
    )
    add("--clocks", type=partial(_whole, 1), metavar="N", help="gradients per worker (64)")
    add("--grid", type=_steps, metavar="A,B,..", help="step sizes; default: by problem")
    add("--seed", type=partial(_whole, 0), default=0, metavar="N", help="default: 0")
    add("--seeds", type=partial(_whole, 1), metavar="N", help="repetitions of a claim (8)")
    names = "|".join(NETWORKS)
    add("--network", default="10gbe", metavar=f"{names}|ALPHA,BETA", help="default: %(default)s")
    add(
        "--compute", type=_seconds, metavar="S", help="virtual seconds of a gradient; else measured"
    )
    add(
        "--quick",
        action="store_true",
        help="eight variants, 8 gradients, three step sizes, four seeds",
    )
    add("--out", type=Path, metavar="DIR", help="write machine, curves and verdicts there as JSON")


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="python -m mpiddl.bench",
        description=ABOUT,
        epilog="COMMAND --help tells more; options without a command are those of run.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    version = f"mpiddl {mpiddl.__version__}"
    parser.add_argument("--version", action="version", version=version)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_run(commands.add_parser("run", help="variants and claims (default)"))
    commands.add_parser("list", help="variants, problems, claims, networks, theorems")
    verify = commands.add_parser("verify", help="the trials of every theorem under MPI")
    verify.add_argument(
        "--theory",
        type=Path,
        required=True,
        metavar="FILE",
        help="what python -m theory verify --json FILE wrote",
    )
    verify.add_argument("--seed", type=partial(_whole, 0), default=0, metavar="N")
    verify.add_argument("--out", type=Path, metavar="DIR", help="write theory-report.json there")
    return parser


def parse(argv: Sequence[str]) -> Options:
    """Return what `argv` says; without a command it is run.

    Raises
    ------
    SystemExit
        0 after help or version, 2 after bad usage; rank 0 has spoken.
    """
    parser = _parser()
    named = bool(argv) and argv[0] in (*COMMANDS, "-h", "--help", "--version")
    found = parser.parse_args(argv if named else ["run", *argv])
    if found.command == "list":
        return Options("list")
    if found.command == "verify":
        return Options("verify", seed=found.seed, out=found.out, theory=found.theory)
    try:
        where = network(found.network)
    except ConfigurationError as error:
        parser.error(str(error))
    chosen = found.variant or map(entry, QUICK if found.quick else NAMED)
    grid = found.grid or (QUICK_GRID if found.quick and found.problem == DEFAULT else None)
    return Options(
        command="run",
        problem=found.problem,
        entries=tuple(dict.fromkeys(chosen)),
        steps=found.clocks or (8 if found.quick else 64),
        grid=grid,
        seed=found.seed,
        seeds=found.seeds or (4 if found.quick else 8),
        network=where,
        network_name=found.network,
        compute=found.compute,
        out=found.out,
    )
