"""The command line: read on every rank, before any message, and refused on all ranks alike."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import mpiddl
from bench.networks import NETWORKS
from bench.options import Options, network, number, reader, steps, whole
from bench.variants import DEFAULT, entry
from mpiddl.comm.guard import ArgumentParser
from mpiddl.errors import ConfigurationError
from mpiddl.problems import problems

__all__ = ["COMMANDS", "Options", "parse"]

COMMANDS = {
    "run": "bench.run",
    "list": "bench.listing",
    "verify": "bench.verify",
    "report": "bench.report_command",
}
"""Command and the module whose function `command(options)` does it, on all ranks."""

ABOUT = """\
Runs distributed SGD variants, in a simulator and under MPI, and judges what theory claims of them.

  mpirun -np 32 python -m mpiddl.bench            all variants and claims: the command run
  mpirun -np 32 python -m mpiddl.bench --quick    less of it, in a minute
  python -m mpiddl.bench list                     what there is to choose from
  mpirun -np 8 python -m mpiddl.bench verify --theory FILE
                                                  every theorem's trials, run for real"""


def _problem(text: str) -> str:
    problems[text]  # refuses an unknown name
    return text


def _claims(text: str) -> tuple[str, ...] | None:
    if text in ("all", "none"):
        return None if text == "all" else ()
    from bench.claims import claims  # only here: mostly all are wanted

    names = tuple(dict.fromkeys(word.strip() for word in text.split(",")))
    for name in names:
        claims[name]  # refuses an unknown name
    return names


def _add_run(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--problem",
        type=reader(_problem),
        action="append",
        metavar="NAME",
        help=f"what is learnt; repeatable; default: {' and '.join(DEFAULT)}",
    )
    add(
        "--variant",
        type=reader(entry),
        action="append",
        metavar="TEXT",
        help="a name from list, or a line: four parts are tried with every step size, five run "
        "as they stand; repeatable; default: those of the problem",
    )
    add("--clocks", type=partial(whole, 1), metavar="N", help="gradients per worker (64 or 48)")
    add("--grid", type=steps, metavar="A,B,..", help="step sizes; default: by problem")
    add("--seed", type=partial(whole, 0), default=0, metavar="N", help="default: 0")
    add("--seeds", type=partial(whole, 1), metavar="N", help="repetitions of a claim (8)")
    names = "|".join(NETWORKS)
    add(
        "--network",
        type=reader(network),
        default="10gbe",
        metavar=f"{names}|FILE|ALPHA,BETA",
        help="of virtual time; default: %(default)s",
    )
    seconds = partial(number, "seconds")
    add("--compute", type=seconds, metavar="S", help="virtual seconds of a gradient; else measured")
    target = partial(number, "an f - f*")
    add("--target", type=target, metavar="F", help="the f - f* to reach; default: by table")
    add(
        "--claims",
        type=reader(_claims),
        metavar="all|none|NAME,..",
        help="what is claimed; default: all",
    )
    add("--quick", action="store_true", help="fewer variants, gradients, step sizes and seeds")
    add("--out", type=Path, metavar="DIR", help="write the results there, as JSON and a page")


def _add_list(parser: argparse.ArgumentParser) -> None:
    """It has no options."""


def _add_verify(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    told = "what python -m theory verify --json FILE wrote"
    add("--theory", type=Path, required=True, metavar="FILE", help=told)
    add("--seed", type=partial(whole, 0), default=0, metavar="N", help="default: 0")
    add("--out", type=Path, metavar="DIR", help="write theory-report.json there")


def _add_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", type=Path, metavar="DIR", help="what run --out DIR wrote")


ADD: dict[str, tuple[Callable[[argparse.ArgumentParser], None], str]] = {
    "run": (_add_run, "variants and claims (default)"),
    "list": (_add_list, "variants, recipes, problems, claims, networks, theorems"),
    "verify": (_add_verify, "the trials of every theorem under MPI"),
    "report": (_add_report, "make report.html of a folder again"),
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
    for name, (add, about) in ADD.items():
        add(commands.add_parser(name, help=about))
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
