"""One server and n workers as events: who is taken in when, and at which model it had looked.

A worker reads the server's model, takes its gradient in some time, pushes it, and reads again as
soon as it may: with staleness s, when everyone has pushed all clocks more than s before the one
that it begins. The delay of a push is the number of pushes taken in since its read. A schedule
depends on durations alone, never on the gradients.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["PACES", "Delays", "Durations", "Ints", "Schedule", "ahead", "chances"]
__all__ += ["largest_delay", "schedule"]

Ints: TypeAlias = NDArray[np.int64]
Durations: TypeAlias = Callable[[int, int], float]  # worker, clock -> seconds of its gradient


@dataclass(frozen=True)
class Delays:
    """What the theorems say about delays: largest, most gradients under way, mean."""

    longest: int
    under_way: int
    mean: float

    @classmethod
    def of(cls, delays: Ints) -> Delays:
        """Measure delays (T,): gradient t was read `delays[t]` pushes before it was taken in."""
        steps = np.arange(delays.size)
        begun = np.bincount(steps - delays, minlength=delays.size)
        windows = np.cumsum(begun) - steps - 1  # read by now, taken in later
        return cls(int(delays.max()), int(windows.max()), float(delays.mean()))


@dataclass(frozen=True)
class Schedule:
    """T pushes in the order in which the server took them in.

    Parameters
    ----------
    worker : (T,)
        Who pushed.
    read : (T,)
        Pushes that the server had taken in when this worker read.
    """

    worker: Ints
    read: Ints

    @cached_property
    def delays(self) -> Ints:
        """Pushes between the read and the push, (T,)."""
        delays: Ints = np.arange(self.read.size) - self.read
        return delays


def schedule(
    n: int, steps: int, staleness: float, durations: Durations, clocks: float = np.inf
) -> Schedule:
    """Return the first `steps` pushes of n workers; ties are taken in by number.

    Parameters
    ----------
    staleness : float
        Clocks that a worker may be ahead of the slowest; infinite: nobody waits.
    durations : callable
        Seconds of the gradient of a worker and its clock, positive.
    clocks : float
        Pushes after which a worker has done its part.
    """
    done, read = [0] * n, [0] * n
    waiting, running = set(range(n)), list[tuple[float, int]]()
    taken: list[tuple[int, int]] = []
    now = 0.0
    while len(taken) < steps:
        for worker in sorted(waiting):
            if done[worker] - min(done) <= staleness:
                waiting.remove(worker)
                read[worker] = len(taken)
                heapq.heappush(running, (now + durations(worker, done[worker]), worker))
        now, worker = heapq.heappop(running)
        taken.append((worker, read[worker]))
        done[worker] += 1
        if done[worker] < clocks:
            waiting.add(worker)
    workers, reads = np.array(taken, dtype=np.int64).T
    return Schedule(workers, reads)


def _even(n: int, seed: int) -> Durations:
    return lambda worker, clock: 1.0


def _random(n: int, seed: int) -> Durations:
    """Every gradient takes a time of its own, exponentially distributed."""
    return lambda worker, clock: float(_draws(seed, worker, clock).exponential())


def _slow(n: int, seed: int) -> Durations:
    """The last of several workers takes 20 times as long as the others, which vary by a tenth."""

    def durations(worker: int, clock: int) -> float:
        share = 20.0 if 0 < worker == n - 1 else 1.0
        return share * float(_draws(seed, worker, clock).uniform(0.9, 1.1))

    return durations


def _draws(*key: int) -> np.random.Generator:
    return np.random.default_rng([2, *key])


PACES: dict[str, Callable[[int, int], Durations]] = {
    "even": _even,
    "random": _random,
    "slow": _slow,
}
"""How fast workers are: durations, alike at every call, from the number of workers and a seed."""


def chances(n: int, pace: str) -> NDArray[np.float64]:
    """Return how likely it is each worker's turn where one steps at a time, (n,).

    With pace "first" it is always the turn of worker 0.
    """
    always = np.arange(n) == 0
    return np.where(always, 1.0, 0.0) if pace == "first" else np.full(n, 1 / n)


def ahead(staleness: int) -> Durations:
    """Worker 0 runs s clocks ahead of all others and then takes its time: the longest delay."""

    def durations(worker: int, clock: int) -> float:
        if worker == 0:
            return 1.0 if clock < staleness else 1e6
        return staleness + 0.5 if clock == 0 else 1.0

    return durations


def largest_delay(n: int, staleness: int) -> int:
    """Return the largest delay of all schedules of n workers, by visiting all states.

    A state is, for every worker, its clock above the lowest, and the pushes since its read, -1 if
    it has not read. Workers may read as late as they like. Meant for few workers.
    """
    first = ((0, -1),) * n
    seen, open_, largest = {first}, [first], 0
    while open_:
        state = open_.pop()
        for i, (clock, age) in enumerate(state):
            rest = state[:i] + state[i + 1 :]
            if age >= 0:
                largest = max(largest, age)
                after = [(c, a + (a >= 0)) for c, a in rest] + [(clock + 1, -1)]
            elif clock <= staleness:
                after = [*rest, (clock, 0)]
            else:
                continue
            lowest = min(c for c, _ in after)
            found = tuple(sorted((c - lowest, a) for c, a in after))
            if found not in seen:
                seen.add(found)
                open_.append(found)
    return largest
