"""An asynchronous run under MPI as a file: all that is needed to make it again, to the bit.

What chance decided, the order in which servers took in what workers said, is in `services`; the
rest follows from variant, problem and seed. Numbers are written so that they read back the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from bench.html.records import Numbers, build
from bench.networks import Preset
from mpiddl.comm.simulated import Network
from mpiddl.curve import COLUMNS, Curve
from mpiddl.errors import ConfigurationError, MpiddlError
from mpiddl.ledger import FIELDS, Service, script_of
from mpiddl.problems import problem
from mpiddl.train import Run
from mpiddl.variant import Variant

__all__ = ["FORMAT", "Recorded", "content", "load", "load_all"]

FORMAT = 2  # of the files; a change of what a field means makes it another one
REMEDY = "write it again with python -m mpiddl.bench --out DIR"


@dataclass(frozen=True)
class Recorded:
    """A run as it was under MPI.

    Parameters
    ----------
    name : str
        What its file is called.
    run : Run
        What to run to make it again: the script is that of `services`.
    services : int64 array (pushes, len(FIELDS))
        Whom the servers took in.
    curve : mapping
        By column what it looked like; None where a number is not finite.
    network : Preset
        The network of virtual time that its bench had.
    """

    name: str
    run: Run
    services: np.ndarray[Any, np.dtype[np.int64]]
    curve: Mapping[str, Numbers]
    network: Preset

    @property
    def free(self) -> Run:
        """The same run with nothing recorded: who comes first is decided anew."""
        return replace(self.run, script=None)

    def service(self, column: str) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return a column of the services (pushes,)."""
        return self.services[:, FIELDS.index(column)]


@dataclass(frozen=True)
class _Content:
    """The fields of a file."""

    variant: str
    problem: str
    n: int
    seed: int
    clocks: int
    services: Mapping[str, Any]
    curve: Mapping[str, Any]
    network: Mapping[str, Any]
    format: int
    servers: int = 0
    every: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    gradient_seconds: float = 0.0


def content(
    run: Run, curve: Curve, services: Any, network: Preset, seconds: float
) -> dict[str, Any]:
    """Return what a file says of `run`.

    Parameters
    ----------
    run : Run
        What was run under MPI.
    curve, services
        As `mpiddl.run` returned them on rank 0.
    network : Preset
        The network of virtual time.
    seconds : float
        Virtual seconds of a gradient.
    """
    learnt = run.problem
    return {
        "format": FORMAT,
        "variant": str(run.variant),
        "problem": learnt.name,
        "options": dict(learnt.options),
        "n": learnt.workers,
        "servers": run.variant.architecture.servers,
        "seed": learnt.seed,
        "clocks": run.clocks,
        "every": run.every,
        "gradient_seconds": seconds,
        "network": {"name": network.name, **asdict(network.network)},
        "curve": curve.as_dict(),
        "services": dict(zip(FIELDS, np.asarray(services).T.tolist(), strict=True)),
    }


def load_all(folder: Path, only: str | None = None) -> list[Recorded]:
    """Return the runs that the bench in `folder` recorded, or the one called `only`.

    Raises
    ------
    ConfigurationError
        If there are none, or a file is broken; names it.
    """
    paths = sorted((folder / "replays").glob("*.json"))
    if not paths:
        raise ConfigurationError(
            f"{folder} has no recorded run, no file replays/NAME.json: {REMEDY}, with a variant "
            "of ssp or asp"
        )
    chosen = [path for path in paths if only in (None, path.stem, path.name)]
    if not chosen:
        names = ", ".join(path.stem for path in paths)
        raise ConfigurationError(f"no run {only!r} in {folder}; there are: {names}")
    return [load(path) for path in chosen]


def load(path: Path) -> Recorded:
    """Return the run that `path` describes.

    Raises
    ------
    ConfigurationError
        If it cannot be read, is of another format, or describes no run; names it and a remedy.
    """
    try:
        said = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise ConfigurationError(f"{path} is broken ({error}): {REMEDY}") from None
    form = said.get("format") if isinstance(said, dict) else None
    if form != FORMAT:
        raise ConfigurationError(
            f"{path} is of format {form!r}, this mpiddl reads {FORMAT}: {REMEDY}"
        )
    told = build(_Content, said, str(path))
    services = _columns(told.services, Service._fields, path, "services", (int,))
    curve = _columns(told.curve, COLUMNS, path, "curve", (int, float, type(None)))
    rows = np.array([services[name] for name in FIELDS], dtype=np.int64).T
    try:
        return Recorded(path.stem, _run(told, rows), rows, curve, _network(told.network))
    except (MpiddlError, TypeError, KeyError) as error:
        raise ConfigurationError(f"{path} describes no run: {error}") from error


def _run(told: _Content, services: Any) -> Run:
    learnt = problem(told.problem, told.n, told.seed, **told.options)
    run = Run(
        Variant.parse(told.variant),
        learnt,
        told.clocks,
        told.every,
        told.gradient_seconds,
        script_of(services),
    )
    if run.variant.architecture.servers != told.servers:
        raise ConfigurationError(f"{run.variant.architecture} has not {told.servers} servers")
    run.check(run.ranks)
    return run


def _network(said: Mapping[str, Any]) -> Preset:
    costs = (float(said[cost]) for cost in ("alpha", "beta", "gamma"))
    return Preset(Network(*costs), str(said["name"]))


def _columns(
    table: Mapping[str, Any], names: tuple[str, ...], path: Path, what: str, kinds: Any
) -> Mapping[str, Any]:
    """Return `table` if it has exactly the columns `names`, of one length, with `kinds` in them."""
    if set(table) != set(names) or not all(isinstance(column, list) for column in table.values()):
        raise ConfigurationError(
            f"{path}: {what} has the columns {', '.join(table)}, not {', '.join(names)}: {REMEDY}"
        )
    odd = any(type(one) not in kinds for column in table.values() for one in column)
    if odd or len({len(column) for column in table.values()}) > 1 or not table[names[0]]:
        raise ConfigurationError(f"{path}: {what} is no table of numbers: {REMEDY}")
    return table
