"""How long a gradient takes: models of workers that are not equally fast.

| text                                | seconds of one gradient                               |
|-------------------------------------|-------------------------------------------------------|
| `constant:S`                        | S                                                     |
| `slow:S,worker=0,factor=4`          | S, one worker takes `factor` times as long            |
| `lognormal:S,sigma=0.5`             | S on average, log-normal, drawn anew for each         |
| `intermittent:S,chance=0.1,factor=10` | S, by chance `factor` times as long                 |

A pace is what `Run.compute` takes: a function of worker and step. What is drawn comes from the
stream of (seed, worker, step), so that every world and every variant meets the same stragglers. In
the simulator these seconds are virtual; under MPI they are waited for, and whatever arrives
meanwhile is dealt with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any, Protocol

import numpy as np

from mpiddl.errors import ConfigurationError
from mpiddl.registry import Described, Registry, is_number

__all__ = ["Model", "Pace", "ends", "parse", "require", "stragglers"]


class Model(Protocol):
    """A frozen description, e.g. ``Slow(1e-3, factor=4)``."""

    def seconds(self, seed: int, worker: int, step: int) -> float:
        """Return how long a gradient takes, in seconds."""


stragglers: Registry[Any] = Registry("mpiddl.stragglers", "model of stragglers")


@dataclass(frozen=True)
class Pace:
    """A model with the seed of what it draws: what `Run.compute` takes.

    Parameters
    ----------
    model : Model
        How long gradients take.
    seed : int
        The seed of the run.
    """

    model: Model
    seed: int

    def __call__(self, worker: int, step: int) -> float:
        """Return how long the gradient of `step` takes `worker`, in seconds."""
        return self.model.seconds(self.seed, worker, step)

    def __str__(self) -> str:
        return str(self.model)


def parse(text: str, seed: int) -> Pace:
    """Return the pace that `text` describes; ConfigurationError if there is none."""
    return Pace(stragglers.parse(text), seed)


def require(model: Described, what: str, value: object, least: float, most: float) -> None:
    """Raise ConfigurationError unless the field `what` of `model` is finite, in [least, most]."""
    number = float(value) if is_number(value) else inf  # type: ignore[arg-type]
    if not (least <= number <= most and isfinite(number)):
        raise ConfigurationError(
            f"{model.name} stragglers need {what} in [{least:g}, {most:g}], found {value!r}: write "
            f"for example {EXAMPLES[model.name]}"
        )


EXAMPLES = {
    "constant": "constant:1e-3",
    "slow": "slow:1e-3,worker=0,factor=4",
    "lognormal": "lognormal:1e-3,sigma=0.5",
    "intermittent": "intermittent:1e-3,chance=0.1,factor=10",
}


def ends(pace: Pace, workers: int, steps: Sequence[int]) -> tuple[int, ...]:
    """Return how many clocks each worker has made when the fastest has made all.

    A run in which nobody waits ends when the time is over, not when everyone has made the same
    number of clocks: the slowest would make the last ones alone.

    Parameters
    ----------
    pace : Pace
        How long gradients take; messages count for nothing.
    workers : int
        Number of workers.
    steps : sequence of int
        Number of steps of each clock.

    Returns
    -------
    tuple of int
        At least 1 each, for `Run.ends`.
    """
    times = np.array([[pace(w, step) for step in range(sum(steps))] for w in range(workers)])
    over = np.cumsum(times, axis=1)[:, np.cumsum(steps) - 1]  # when each clock is made
    made = (over <= over[:, -1].min()).sum(axis=1)
    return tuple(int(clocks) for clocks in np.maximum(made, 1))
