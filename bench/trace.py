"""What a simulated run did when, for a trace viewer: ui.perfetto.dev, or chrome://tracing.

A process is a rank; its tracks are what it sends, what it receives and what it computes. Nothing
on a track overlaps: a rank sends one message and receives one at a time, and computations that
run side by side, a gradient and a server's additions, are put on tracks of their own.

Format  Google, "Trace Event Format": complete events, "ph": "X", with "ts" and "dur" in
        microseconds, and metadata events, "ph": "M", that name processes and threads.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.files import write_text
from bench.options import Options
from mpiddl.architecture.server import PUSH
from mpiddl.errors import ConfigurationError
from mpiddl.train import Run

if TYPE_CHECKING:
    from mpiddl.comm.simulated import Span

__all__ = ["events", "trace", "write_trace"]

SEND, RECEIVE, COMPUTE = 0, 1, 2  # tracks; further computations at one time are on 3, 4, ..
NAMES = {"computation": "gradient"}  # what a run computes besides additions


def write_trace(path: Path, spans: Sequence[Span], run: Run) -> None:
    """Write `spans`, what the simulator noted of `run`, to `path`.

    Raises
    ------
    ConfigurationError
        If that cannot be written.
    """
    content = {
        "displayTimeUnit": "ns",
        "otherData": {"variant": str(run.variant), "problem": run.problem.name},
        "traceEvents": list(events(spans, run)),
    }
    try:
        write_text(path, json.dumps(content, separators=(",", ":")) + "\n")
    except OSError as error:
        message = f"the trace {path} cannot be written: {error.strerror or error}"
        raise ConfigurationError(message) from None


def events(spans: Sequence[Span], run: Run) -> Iterator[dict[str, Any]]:
    """Yield the events of `spans`, metadata first, the others by time."""
    found, tracks = [], set()
    free: dict[tuple[int, int], int] = {}  # when a track for computations is free again
    for span in sorted(spans, key=lambda span: (span.start, span.end)):
        begin, end = round(span.start * 1e9), round(span.end * 1e9)
        if span.kind == "transfer":
            outward, inward = _messages(span, run)
            rows = [(span.rank, SEND, outward), (span.peer, RECEIVE, inward)]
        else:
            tid = COMPUTE
            while free.get((span.rank, tid), 0) > begin:
                tid += 1
            free[span.rank, tid] = end
            rows = [(span.rank, tid, NAMES.get(span.label, span.label))]
        for rank, tid, name in rows:
            tracks.add((rank, tid))
            found.append(_complete(rank, tid, name, begin, end, span))
    for rank in sorted({rank for rank, _ in tracks}):
        yield _named("process_name", rank, 0, name=_rank_name(rank, run))
        yield _named("process_sort_index", rank, 0, sort_index=rank)
    for rank, tid in sorted(tracks):
        yield _named("thread_name", rank, tid, name=_track_name(tid))
        yield _named("thread_sort_index", rank, tid, sort_index=tid)
    yield from found


def _complete(rank: int, tid: int, name: str, begin: int, end: int, span: Span) -> dict[str, Any]:
    """Return an event from `begin` to `end`, in whole nanoseconds so that neighbours meet."""
    event = {
        "ph": "X",
        "cat": span.kind,
        "name": name,
        "pid": rank,
        "tid": tid,
        "ts": begin / 1000,
        "dur": (end - begin) / 1000,
    }
    if span.kind == "transfer":
        event["args"] = {
            "from": span.rank,
            "to": span.peer,
            "bytes": span.bytes,
            "where": span.label,
        }
    return event


def _named(what: str, rank: int, tid: int, **args: Any) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": rank, "tid": tid, "args": args}


def _messages(span: Span, run: Run) -> tuple[str, str]:
    """Return what a transfer is called where it is sent, and where it is received."""
    source, dest = span.rank, span.peer
    if not run.variant.architecture.served:
        return f"message to {dest}", f"message from {source}"
    first = run.ranks - (run.variant.architecture.servers or run.ranks)  # rank of server 0
    if span.label.partition(",")[0] == f"tag {PUSH}":
        return f"push to server {dest - first}", f"push from worker {source}"
    return f"answer to worker {dest}", f"pull from server {source - first}"


def _rank_name(rank: int, run: Run) -> str:
    workers, architecture = run.problem.workers, run.variant.architecture
    if rank >= workers:
        return f"server {rank - workers}"
    both = architecture.served and not architecture.servers
    return f"worker and server {rank}" if both else f"worker {rank}"


def _track_name(tid: int) -> str:
    if tid in (SEND, RECEIVE):
        return ("send", "receive")[tid]
    return "compute" if tid == COMPUTE else f"compute, at the same time ({tid - COMPUTE + 1})"


def trace(options: Options) -> None:
    """Simulate a variant and write what happened when; rank 0 does it, the others leave.

    Raises
    ------
    ConfigurationError
        If the variant cannot run, no such network is known, or the file cannot be written.
    """
    from mpiddl.comm.mpi import MPICommunicator  # only here: what is above needs no MPI

    with MPICommunicator() as comm:
        first = comm.rank == 0
    if first:
        _trace(options)


def _trace(options: Options) -> None:
    from bench.networks import is_file, preset, read
    from bench.replay import outcome
    from mpiddl.problems import problem

    assert options.out is not None
    where = options.network
    network = read(Path(where)) if is_file(where) else preset(where)
    (entry,), (learnt,) = options.entries, options.problems
    variant = entry.variant(None if entry.fixed else 0.1)
    made = problem(learnt, options.workers, options.seed)
    run = Run(variant, made, options.steps or 1, compute=options.compute or 0.0)
    spans: list[Span] = []
    curve = outcome(run, network.network, spans)
    write_trace(options.out, spans, run)
    seconds = f"{curve['seconds'][-1]:.3e} s on {network.name}"
    print(f"{variant} on {learnt}: {len(spans)} transfers and computations, {seconds}")
    print(f"written: {options.out}; open it at ui.perfetto.dev or chrome://tracing")
