"""`replay DIR`: asynchronous runs made again from what a bench recorded of them under MPI.

In the recorded order the simulator must find the same curve to the bit. The same simulation tells
how long that order would have taken on a network; and without the order, how the run would have
gone on that network by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.jobs import SENT, TIMED
from bench.networks import Preset, is_file, preset, read
from bench.options import Options
from bench.replays import Recorded, load_all
from mpiddl.curve import COLUMNS, Curve
from mpiddl.errors import Diverged
from mpiddl.train import Run, simulate

if TYPE_CHECKING:
    from mpiddl.comm.simulated import Network, Span

__all__ = ["Again", "differences", "made_again", "outcome", "replay", "trace_path"]


@dataclass(frozen=True)
class Again:
    """A recorded run made again.

    Parameters
    ----------
    recorded : Recorded
        As it was under MPI.
    network : Preset
        The network on which it was made again.
    same, free : Curve
        In the recorded order, and as it comes.
    spans : list of Span
        What took how long, in the recorded order.
    """

    recorded: Recorded
    network: Preset
    same: Curve
    free: Curve
    spans: list[Span]

    @property
    def wrong(self) -> list[str]:
        """What is not as it was under MPI, in words."""
        return differences(self.recorded, self.same)


def outcome(run: Run, network: Network, spans: list[Span] | None = None) -> Curve:
    """Return the curve of `run` in the simulator, also of one that diverges."""
    try:
        result = simulate(run, network, trace=spans)[0]
    except Diverged as error:
        result = error.result  # type: ignore[assignment]
    assert result.curve is not None
    return result.curve


def made_again(recorded: Recorded, network: Preset | None = None) -> Again:
    """Return `recorded` made again on `network`, by default on that of its bench."""
    where, spans = network or recorded.network, list[Any]()
    same = outcome(recorded.run, where.network, spans)
    return Again(recorded, where, same, outcome(recorded.free, where.network), spans)


def differences(recorded: Recorded, curve: Curve) -> list[str]:
    """Return where `curve` is not the recorded one to the bit, in words, column by column.

    Wall seconds are not compared. A server answers others before or after its own rank takes a
    snapshot, as it happens: bytes and messages are compared in the last snapshot.
    """
    wrong, again = [], curve.as_dict()
    for name in COLUMNS:
        was, now = recorded.curve[name], again[name]
        if name in TIMED:
            continue
        if len(was) != len(now):
            return [f"{len(was)} rows were recorded, {len(now)} came out"]
        rows = range(len(was) - 1, len(was)) if name in SENT else range(len(was))
        for row in rows:
            if was[row] != now[row]:
                wrong.append(f"{name}, row {row}: recorded {was[row]!r}, replayed {now[row]!r}")
                break
    return wrong


def trace_path(path: Path, name: str, many: bool) -> Path:
    """Return where the trace of the run `name` goes: `path`, or a file of its own beside it."""
    return path.with_name(f"{path.stem}-{name}{path.suffix}") if many else path


def replay(options: Options) -> None:
    """Make the recorded runs of a folder again, on rank 0; the others wait, asleep.

    Raises
    ------
    ConfigurationError
        If folder, file or network cannot be read.
    SystemExit
        With 1 if a run did not come out as it was.
    """
    from mpiddl.comm.mpi import MPICommunicator  # only here: what is above needs no MPI

    with MPICommunicator() as comm:
        first = comm.rank == 0
    if first and not _replay(options):
        raise SystemExit(1)


def _replay(options: Options) -> bool:
    """Do it, print what came out, write traces; return whether all is as it was."""
    from bench.console import open_console
    from bench.trace import write_trace

    assert options.out is not None
    network = None
    if options.on is not None:
        network = read(Path(options.on)) if is_file(options.on) else preset(options.on)
    recorded = load_all(options.out, options.name)
    console, all_again = open_console(), []
    for one in recorded:
        again = made_again(one, network)
        all_again.append(again)
        if options.trace is not None:
            path = trace_path(options.trace, one.name, len(recorded) > 1)
            write_trace(path, again.spans, one.run)
            console.print(f"trace of {one.name}: {path}", markup=False)
    console.print(_table(all_again))
    networks = ", ".join(sorted({again.network.name for again in all_again}))
    console.print(
        "\nequal: in the order that MPI had, the simulator's curve is that of MPI to the bit\n"
        f"MPI's, own: that order on the network {networks}, and the order that it has by itself\n"
        "f: at the end",
        markup=False,
    )
    for again in all_again:
        if again.wrong:
            console.print(f"{again.recorded.name} differs: {again.wrong[0]}", markup=False)
    return not any(again.wrong for again in all_again)


def _table(all_again: Sequence[Again]) -> Any:
    from rich.text import Text

    from bench.tables import plain_table

    table = plain_table(
        "\nrun",
        "\nclocks",
        "\npushes",
        "staleness\nmean, max",
        "\nequal",
        "seconds\nMPI's",
        "\nown",
        "f\nMPI's",
        "\nown",
    )
    for again in all_again:
        recorded, ages = again.recorded, again.recorded.service("staleness")
        ages = ages[ages >= 0]  # where something was read
        table.add_row(
            Text(recorded.name),
            str(recorded.run.clocks),
            f"{len(ages):,}",
            f"{ages.mean():.2f}, {ages.max()}" if ages.size else "-",
            Text("DIFFERS", "bold red") if again.wrong else Text("yes", "green"),
            *(_number(curve["seconds"][-1], ".2e") for curve in (again.same, again.free)),
            *(_number(curve["loss"][-1], ".5g") for curve in (again.same, again.free)),
        )
    return table


def _number(value: float, form: str) -> str:
    return format(float(value), form) if isfinite(value) else "diverged"
