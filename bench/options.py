"""What a command line says, as data, and how its words are read."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from bench.networks import is_file, preset
from bench.variants import Entry
from mpiddl.errors import ConfigurationError

__all__ = ["Options", "network", "number", "reader", "steps", "whole"]

T = TypeVar("T")


@dataclass(frozen=True)
class Options:
    """What the command line says; a command reads what belongs to it.

    Parameters
    ----------
    command : str
        One of `bench.cli.COMMANDS`.
    problems : tuple of str
        What the variants learn, one table each; empty: the default.
    entries : tuple of Entry
        The variants of every table; empty: those of its problem.
    steps : int or None
        Gradients per worker: clocks of a variant that speaks after every step; None: 32, or 12
        if quick.
    grid : tuple of float or None
        Step sizes; None: those of the problem.
    seed, seeds : int
        The seed of the tables, and how many repetitions of each claim start with it.
    network : str
        The network of virtual time: a name, ALPHA,BETA or a file.
    compute : float or None
        Virtual seconds of a gradient; None: measured.
    quick : bool
        Whether there is less of everything that is not named here.
    target : float or None
        The f - f* to reach; None: by table.
    claims : tuple of str or None
        What is claimed; None: everything.
    out : Path or None
        The folder of the results; None: nothing is written.
    theory : Path or None
        What `python -m theory verify --json` wrote.
    name : str or None
        The one recorded run that is replayed; None: all.
    on : str or None
        Another network than the recorded one; None: that one.
    trace : Path or None
        Where a trace of a replayed run goes; None: nowhere.
    workers : int
        How many a traced run has, or a run of a cell.
    stragglers : str
        How long a gradient takes in the cells.
    """

    command: str
    problems: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()
    steps: int | None = None
    grid: tuple[float, ...] | None = None
    seed: int = 0
    seeds: int = 8
    network: str = "10gbe"
    compute: float | None = None
    quick: bool = False
    target: float | None = None
    claims: tuple[str, ...] | None = None
    out: Path | None = None
    theory: Path | None = None
    name: str | None = None
    on: str | None = None
    trace: Path | None = None
    workers: int = 4
    stragglers: str = "constant:1e-3"

    @property
    def claimed(self) -> tuple[str, ...]:
        """The names of what is claimed."""
        from bench.claims import claims  # only here: other commands claim nothing

        return tuple(claims) if self.claims is None else self.claims


def reader(read: Callable[[str], T]) -> Callable[[str], T]:
    """Let argparse print what a ConfigurationError says."""

    def reading(text: str) -> T:
        try:
            return read(text)
        except ConfigurationError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return reading


def whole(least: int, text: str) -> int:
    """Return a whole number of at least `least`."""
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"a whole number of at least {least}, found {text!r}")
    return int(text)


def number(what: str, text: str) -> float:
    """Return a finite number of at least 0."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{what} of at least 0, found {text!r}")
    return value


def steps(text: str) -> tuple[float, ...]:
    """Return step sizes, increasing."""
    try:
        found = sorted({float(word) for word in text.split(",")})
    except ValueError:
        found = []
    if not found or not all(0 < step < float("inf") for step in found):
        raise argparse.ArgumentTypeError(f"step sizes above 0, as in 0.1,0.3,1; found {text!r}")
    return tuple(found)


def network(text: str) -> str:
    """Return `text`, the name of a network, two numbers or a file, which is read later."""
    if not is_file(text):
        preset(text)
    return text
