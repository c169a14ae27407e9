"""`verify`: the trials of every theorem, run for real, beside what the theory found on paper.

The theory judges its own recursions in NumPy; here the same judge looks at what the ranks did
under MPI, with the same claims. Every control is broken for real and must fail at its stage.
"""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.cli import Options
from bench.console import Progress
from bench.crew import Crew
from bench.jobs import Found, Job, check
from bench.run import opening, refuse_together
from bench.verify_runs import Spec, arrays, build
from mpiddl.comm.mpi import MPICommunicator
from mpiddl.errors import ConfigurationError

if TYPE_CHECKING:
    from theory.report import Tried

__all__ = ["verify"]

SEEDS = 4  # at most, of each trial: runs under MPI take longer than recursions


def verify(options: Options) -> None:
    """Run all trials and report; collective.

    Raises
    ------
    ConfigurationError
        On all ranks, before the first run, if the theory's file cannot be read, the folder cannot
        be written, or there are fewer ranks than a trial needs.
    SystemExit
        With 1, on rank 0, if something is not as it must be.
    """
    assert options.theory is not None
    code = 0
    with MPICommunicator() as comm:
        refuse_together(comm, options.out)
        theory, trouble = _read(options.theory) if comm.rank == 0 else (None, None)
        specs, trouble = comm.allgather((_specs(), trouble) if comm.rank == 0 else None)[0]
        if trouble is not None:
            raise ConfigurationError(trouble)
        most = max(spec.ranks for spec, _ in specs.values())
        if comm.size < most:
            raise ConfigurationError(f"verify needs {most} ranks, there are {comm.size}")
        jobs = [
            Job((index, seed), build(spec, options.seed + seed), watched=True, mpi=True)
            for index, (spec, seeds) in specs.items()
            for seed in range(seeds)
        ]
        check(jobs)
        console, machine = opening(comm)
        with Progress(console) as progress:
            found = Crew(comm, progress).make("trials", jobs)
        if console is not None:
            from bench.verify_report import report

            assert theory is not None
            code = report(console, options.out, machine, theory, _judge(specs, found))
            console.print("\n".join(_compared(found)), markup=False)
            code = code or int(not all(outcome.same for outcome in found.values()))
    if code:
        raise SystemExit(code)


def _read(path: Path) -> tuple[list[dict[str, Any]] | None, str | None]:
    """Return what `python -m theory verify --json` wrote, or why it cannot be read."""
    try:
        theory = json.loads(path.read_text("utf-8"))
        return [dict(entry) for entry in theory if entry["name"]], None
    except (OSError, ValueError, TypeError, KeyError) as error:
        hint = f"write it with: python -m theory verify --json {path}"
        return None, f"--theory {path} cannot be read ({error}): {hint}"


def _specs() -> dict[int, tuple[Spec, int]]:
    """Return what to run of each trial, by its number, and with how many seeds; on rank 0."""
    from theory.trials import TRIALS

    specs = {}
    for index, trial in enumerate(TRIALS):
        real = trial.real()
        cached = real.pace == "oldest"  # views older than a server's, which no run has
        if not cached and (trial.control is None or trial.control.fails != "conditions"):
            values = {field.name: getattr(real, field.name) for field in fields(Spec)}
            specs[index] = Spec(**values), min(real.seeds, SEEDS)
    return specs


def _compared(found: Found) -> list[str]:
    """Return how many runs are those of the simulator, and a line for each that is not."""
    wrong = [outcome for outcome in found.values() if not outcome.same]
    told = [
        f"{len(found) - len(wrong)} of {len(found)} runs are those of the simulator, to the bit"
    ]
    return told + [f"{one.job.run.variant}: another is {one.differs}" for one in wrong]


def _judge(specs: dict[int, tuple[Spec, int]], found: Found) -> list[Tried]:
    """Let the theory look at all runs, as it looks at its own; on rank 0."""
    from theory.measured import Trajectory
    from theory.report import Tried
    from theory.stages import evaluate
    from theory.trials import TRIALS

    tried = []
    for index, (spec, seeds) in specs.items():
        trial = TRIALS[index]
        did = arrays(spec, [found[index, seed] for seed in range(seeds)])
        run = Trajectory(did.y, did.g, did.v, did.e, did.said, did.delays, did.misplaced)
        stages = evaluate(trial.theorem, run, trial.oracle(), trial.values())
        tried.append(Tried(trial, stages, exact=None))
    return tried
