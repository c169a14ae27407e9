"""The command line: read on every rank, before any message, and refused on all ranks alike."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import NamedTuple

import mpiddl
from bench.arguments import ADD
from bench.options import Options
from mpiddl.comm.guard import ArgumentParser

__all__ = ["COMMANDS", "Options", "parse"]

ABOUT = """\
Runs distributed SGD variants, in a simulator and under MPI, and judges what theory claims of them.

  mpirun -np 32 python -m mpiddl.bench            all variants and claims: the command run
  mpirun -np 32 python -m mpiddl.bench --quick    less of it, in a minute
  python -m mpiddl.bench list                     what there is to choose from
  mpirun -np 8 python -m mpiddl.bench verify --theory FILE
                                                  every theorem's trials, run for real"""


class Command(NamedTuple):
    """A command: MODULE:FUNCTION, which is given the options on all ranks; help; its options."""

    where: str
    about: str
    add: Callable[[argparse.ArgumentParser], None] = lambda parser: None


COMMANDS = {
    "run": Command("bench.run:run", "variants and claims (default)", ADD["run"]),
    "list": Command(
        "bench.listing:listing", "variants, recipes, problems, claims, networks, theorems"
    ),
    "verify": Command(
        "bench.verify:verify", "the trials of every theorem under MPI", ADD["verify"]
    ),
    "report": Command(
        "bench.report_command:report", "make report.html of a folder again", ADD["report"]
    ),
    "replay": Command(
        "bench.replay:replay", "make asynchronous runs of a folder again", ADD["replay"]
    ),
    "trace": Command(
        "bench.trace:trace", "what a variant does when, for a trace viewer", ADD["trace"]
    ),
    "cells": Command(
        "bench.cells.command:cells", "every synchronization on every architecture", ADD["cells"]
    ),
    "speed": Command(
        "bench.speed.command:speed", "ratios of times against their limits", ADD["speed"]
    ),
}


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
    for name, command in COMMANDS.items():
        command.add(commands.add_parser(name, help=command.about))
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
    found = vars(parser.parse_args(argv if named else ["run", *argv]))
    if found["command"] == "run":
        for word, field in (("problem", "problems"), ("variant", "entries")):
            found[field] = tuple(dict.fromkeys(found.pop(word) or ()))
        found["steps"] = found.pop("clocks")
        found["seeds"] = found["seeds"] or (4 if found["quick"] else 8)
    return Options(**found)
