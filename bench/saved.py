"""The files of a bench: what each holds; rank 0 alone imports this.

machine.json     where it ran, and under "run" what was asked for
curves.json      every run of the tables, simulated and under MPI: one list per column
table.json       the rows of all tables
verdicts.json    the claims, with what there is to draw
replays/*.json   asynchronous runs under MPI: whom the servers took in, and when
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from bench import replays
from bench.grid import Table
from bench.jobs import Found, Outcome, stale
from bench.networks import Preset
from bench.options import Options
from bench.predict import per_clock
from bench.rows import Row
from bench.variants import Entry
from bench.verdict import Verdict
from mpiddl.curve import COLUMNS, Curve

__all__ = ["contents", "replay_name"]


def contents(
    options: Options,
    machine: Mapping[str, Any],
    network: Preset,
    tables: Mapping[str, tuple[Table, Sequence[Row]]],
    verdicts: Sequence[Verdict],
    found: Found,
) -> Iterator[tuple[str, Any]]:
    """Yield the path of every file inside the folder, and what it holds.

    `machine` is the header, `tables` are by problem, `network` is that of virtual time.
    """
    run = {
        "problems": {name: _problem(*each) for name, each in tables.items()},
        "seed": options.seed,
        "seeds": options.seeds,
        "network": {"name": network.name, **asdict(network.network)},
        "gradient_seconds": {name: each[0].terms.compute for name, each in tables.items()},
    }
    yield "machine.json", {**machine, "run": run}
    every = [(table, row) for table, rows in tables.values() for row in rows]
    yield "curves.json", [curve for each in every for curve in _curves(*each, found)]
    yield "table.json", [row.as_dict() for _, row in every]
    yield "verdicts.json", [verdict.as_dict() for verdict in verdicts]
    for table, row in every:
        if row.first.real is not None and stale(row.first.job.run):
            yield f"replays/{replay_name(row.entry, table.name)}", _replay(table, row, network)


def replay_name(entry: Entry, problem: str) -> str:
    """Return the name of the file that holds the asynchronous run of `entry`."""
    return f"{re.sub(r'[^A-Za-z0-9_.,=+-]+', '-', entry.name)}--{problem}.json"


def _problem(table: Table, rows: Sequence[Row]) -> dict[str, Any]:
    learnt, target = table.problem(), rows[0].target if rows else None
    return {
        "d": learnt.layout.size,
        "n": learnt.workers,
        "f_star": learnt.constants.f_star,
        "steps": table.steps,
        "grid": table.grid,
        "target": target and target.value,
        "target_meaning": target and target.meaning,
    }


def _curves(table: Table, row: Row, found: Found) -> Iterator[dict[str, Any]]:
    """Yield all runs of one variant: every step size, further seeds, and the one under MPI."""
    trials = [
        found[table.key(row.entry, gam, table.terms.seed)] for gam in row.entry.steps(table.grid)
    ]
    trials.extend(row.outcomes[1:])
    for outcome in trials:
        yield _curve(row, outcome, outcome.curve, "simulator")
        if outcome.real is not None:
            yield _curve(row, outcome, outcome.real, "mpi")


def _curve(row: Row, outcome: Outcome, curve: Curve, world: str) -> dict[str, Any]:
    run, cost = outcome.job.run, per_clock(outcome.job.run)
    columns = curve.as_dict()
    return {
        "variant": str(run.variant),
        "name": row.entry.name,
        "problem": run.problem.name,
        "n": run.problem.workers,
        "servers": run.variant.architecture.servers,
        "seed": run.problem.seed,
        "world": world,
        "step_size": None if row.gam is None else outcome.job.key[3],  # type: ignore[index]
        "chosen": str(run.variant) == str(row.first.job.run.variant),
        "diverged": outcome.diverged,
        **{name: columns[name] for name in COLUMNS},
        "bytes_predicted": cost and [cost.bytes * float(clock) for clock in curve["clock"]],
    }


def _replay(table: Table, row: Row, network: Preset) -> dict[str, Any]:
    services, curve = row.first.services, row.first.real
    assert services is not None
    assert curve is not None
    return replays.content(row.first.job.run, curve, services, network, table.terms.compute)
