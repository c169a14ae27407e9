"""A run as data: what is the same on all ranks, and what one rank has afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from numbers import Integral
from typing import Any

import numpy as np

from mpiddl.architecture.scripts import REMEDY, require_choices
from mpiddl.arrays import Array
from mpiddl.curve import Curve
from mpiddl.errors import ConfigurationError
from mpiddl.ledger import SHOWN, Script
from mpiddl.marks import due_clocks
from mpiddl.problems import Problem
from mpiddl.problems.base import number, whole
from mpiddl.variant import Variant

__all__ = ["Result", "Run"]


@dataclass(frozen=True)
class Result:
    """What one rank has after a run.

    `x` (d,) is its model, the start on a rank that only serves; `curve` is None on ranks other than
    0, `diverged` is None or the (rank, clock) in which a number that is not finite was met first.
    `services` has a row for everything that was taken in, with the columns `mpiddl.ledger.FIELDS`;
    None on ranks other than 0, and where no server holds the model and nothing is left to chance.
    """

    x: Array
    curve: Curve | None
    diverged: tuple[int, int] | None
    services: Array | None = None


@dataclass(frozen=True)
class Run:
    """Everything that is the same on all ranks of a run.

    Parameters
    ----------
    variant : Variant
        The algorithm.
    problem : Problem
        What is learnt; its seed is the one seed of the run.
    clocks : int
        Number of agreements, at least 1.
    every : int or None
        Clocks between two snapshots; None takes about fifty.
    compute : float or callable
        Seconds that pass with one gradient, besides its own: a number, or a function of worker
        and step, such as a `mpiddl.stragglers.Pace`; virtual in the simulator.
    script : mapping or None
        What the moment decided in an earlier run, from `mpiddl.ledger.script_of`; None: as it
        comes.
    ends : tuple of int or None
        Number of clocks of each worker, at most `clocks`, where some end before the others; only
        where servers hold the model, or clocks may be missing.
    """

    variant: Variant
    problem: Problem
    clocks: int
    every: int | None = None
    compute: float | Callable[[int, int], float] = 0.0
    script: Script | None = None
    ends: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        """Raise ConfigurationError for what is of another type: it cannot even be compared."""
        for name, value, kind, remedy in (
            ("variant", self.variant, Variant, "use Variant.parse(...)"),
            ("script", self.script, Mapping | None, "use mpiddl.ledger.script_of(...)"),
            ("ends", self.ends, tuple | list | None, "write a tuple with one number per worker"),
        ):
            if not isinstance(value, kind):
                raise ConfigurationError(f"{name} = {value!r} is no such thing: {remedy}")

    @property
    def ranks(self) -> int:
        """How many ranks it needs: workers and servers."""
        return self.problem.workers + self.variant.architecture.servers

    @property
    def all_clocks(self) -> tuple[int, ...]:
        """Number of clocks of each worker."""
        return self.ends or (self.clocks,) * self.problem.workers

    @property
    def snapshots(self) -> int:
        """Clocks between two snapshots."""
        return self.every or max(1, self.clocks // 50)

    def check(self, size: int) -> None:
        """Raise ConfigurationError if this cannot run on `size` ranks; pure."""
        whole("clocks", self.clocks, 1)
        if not callable(self.compute):
            number("compute", self.compute)
        if self.ends is not None:
            self._check_ends(self.ends)
        if self.script is not None:
            self._check_script(self.script)
        if self.every is not None:
            whole("every", self.every, 1)
        self.variant.check(self.problem, size)

    def _check_script(self, script: Script) -> None:
        variant, problem = self.variant, self.problem
        if not variant.left_to_chance:
            raise ConfigurationError(
                f"{variant} leaves nothing to chance, so it follows no script: leave it out"
            )
        odd = {one for order in script.values() for one in order if not isinstance(one, Integral)}
        if odd:
            raise ConfigurationError(
                f"choices of a script are whole numbers, found {odd.pop()!r}: {REMEDY}"
            )
        plan = variant.schedule.plan(problem.layout, np.dtype(problem.dtype).itemsize)
        spans = [bucket.span for bucket in plan.buckets]
        own = {at: choices for at, choices in script.items() if at[0] != SHOWN}
        variant.architecture.check_script(own, spans, self.ranks, self.all_clocks, variant.sync)
        shown = {at: choices for at, choices in script.items() if at[0] == SHOWN}
        due = due_clocks(self.snapshots, self.clocks)
        workers = range(0 if variant.architecture.served else problem.workers)
        require_choices(shown, {(SHOWN, worker): len(due) for worker in workers})
        for (_, worker), clocks in shown.items():
            if not {*clocks} <= {*due, self.all_clocks[worker]}:
                raise ConfigurationError(
                    f"the script shows worker {worker} at clocks of which there is no snapshot: "
                    f"{REMEDY}"
                )

    def _check_ends(self, ends: tuple[int, ...]) -> None:
        variant = self.variant
        if not variant.architecture.served and not variant.left_to_chance:
            raise ConfigurationError(
                f"{variant.sync} / {variant.architecture} waits for everyone, so no worker can end "
                "before the others: use ps, or asp"
            )
        found = [whole("ends", end, 1) for end in ends]
        if len(found) != self.problem.workers or max(found) != self.clocks:
            raise ConfigurationError(
                f"each of {self.problem.workers} workers ends after 1 to {self.clocks} clocks, "
                f"one of them after {self.clocks}; found {ends}"
            )

    def seconds(self, worker: int, step: int) -> float:
        """Return the seconds that pass with one gradient, besides its own."""
        return self.compute(worker, step) if callable(self.compute) else self.compute

    @property
    def signature(self) -> tuple[object, ...]:
        """What all ranks must agree on."""
        problem, agreed = self.problem, self.variant.architecture.agreed(self.ranks)
        options = sorted((name, _told(value)) for name, value in problem.options.items())
        learnt = problem.name, problem.seed, problem.layout.shapes, options
        script = hash(tuple(sorted((at, *order) for at, order in (self.script or {}).items())))
        return (str(self.variant), agreed, *learnt, *self.all_clocks, self.every, script)


def _told(value: Any) -> Any:
    """Return what tells an option from others: of an array all entries, which its repr may not."""
    if not isinstance(value, np.ndarray):
        return value
    entries = sha256(repr(value.tolist()).encode()).hexdigest()[:16]
    return f"array of shape {value.shape}, {value.dtype}, {entries}"
