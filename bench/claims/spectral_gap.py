"""Gossip agrees as fast as its graph lets it: one mixing shrinks the disagreement by lam.

Theorem     gossip-consensus: |X_T - J X_0| <= lam^T |X_0 - J X_0|, attained by the slowest mode;
            lam = |W - J|_2 in closed form where theory.mixing has one; of a graph that is drawn, of
            the matrix that was. Where the graph changes from clock to clock, W is what a turn does
Measured    workers start apart along the slowest mode of W and only average: every clock, or turn,
            shrinks their distance by lam, to rounding. A complete graph agrees at once: lam = 0
Broken if   a graph, or its weights, are not the ones that are claimed
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from bench.claims import Budget, claims
from bench.jobs import Found, Job
from bench.judge import Subject, Verdict, equal
from bench.series import Series, line
from bench.wrappers import Scattered
from mpiddl.architecture import architectures
from mpiddl.arrays import Array
from mpiddl.errors import ConfigurationError
from mpiddl.problems.quadratic import iso
from mpiddl.train import Run
from mpiddl.variant import Variant

__all__ = ["GRAPHS", "SpectralGap", "gap_of", "turn"]

GRAPHS = (
    "complete",
    "exponential",
    "hypercube",
    "path",
    "ring",
    "star",
    "torus",
    "two_level:4",
    "random_regular:4",
    "erdos_renyi:0.5",
    "directed_random:0.3,weights=metropolis",  # one way, gossip would not keep the mean
    "one_peer_exponential",
    "exponential,weights=metropolis",
    "hypercube,weights=fastest",
    "ring,weights=fastest",
    "star,weights=fastest",
    "ring,gamma=0.5",
)
LEAST = 4  # workers: a ring of three is complete
CLOCKS = 8
TOLERANCE = 1e-9


def turn(text: str, n: int) -> list[Array]:
    """Return the matrices W (n, n) that gossip uses in turn; empty if n workers cannot."""
    gossip: Any = architectures.parse(f"gossip:{text}")
    try:
        return [(1 - gossip.gamma) * np.eye(n) + gossip.gamma * w for w in gossip.matrices(n)]
    except ConfigurationError:  # no hypercube of this many
        return []


def whole_turn(text: str, n: int) -> Array:
    """Return what one turn does, (n, n)."""
    found: Array = reduce(np.matmul, reversed(turn(text, n)))
    return found


def gap_of(text: str, n: int) -> float:
    """Return lam of one turn of a graph, in closed form if there is one."""
    from theory.mixing import lam, measured_lam

    try:
        return lam(text, n)
    except ValueError:
        return measured_lam(whole_turn(text, n))


class Slowest(Scattered):
    """Pure averaging from a start along `mode` (n,): worker i stands at x0 - mode_i."""

    def __init__(self, workers: int, seed: int, mode: Array) -> None:
        super().__init__(iso(workers, seed, d=1))
        self.mode = mode

    def batch(self, worker: int, step: int) -> Array:
        """Return mode_i at step 0, then zero; (1,)."""
        return np.array([self.mode[worker] if step == 0 else 0.0])


@dataclass(frozen=True)
class SpectralGap:
    """The claim that gossip on each graph contracts with the lam of the graph it is claimed for."""

    graphs: Mapping[str, str] = field(default_factory=lambda: {graph: graph for graph in GRAPHS})

    subject: ClassVar[Subject] = Subject("gossip contracts by lam of its graph", "gossip-consensus")

    def modes(self, n: int) -> dict[str, Array]:
        """Return for each graph that `n` workers can form the slowest mode of W, of length 1."""
        known = [graph for graph in self.graphs if turn(graph, n)]
        return {graph: np.linalg.svd(whole_turn(graph, n) - 1 / n)[2][0] for graph in known}

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return one run of pure averaging per graph."""
        n = budget.workers(LEAST)
        return [
            budget.job(
                ("spectral_gap", graph),
                Run(
                    Variant.parse(f"bsp / gossip:{graph} / identity / whole / sgd:1"),
                    Slowest(n, budget.seed, mode),
                    CLOCKS,
                    every=1,
                ),
            )
            for graph, mode in self.modes(n).items()
        ]

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Count the graphs on which every contraction is the predicted one."""
        n, lines, right = budget.workers(LEAST), [], 0
        for graph, mode in self.modes(n).items():
            predicted, m = gap_of(self.graphs[graph], n), len(turn(graph, n))
            distance = np.sqrt(n * found["spectral_gap", graph].curve["consensus2"])
            distance[0] = np.linalg.norm(mode - mode.mean())  # before the first clock all are x0
            clock, distance = range(0, CLOCKS + 1, m), distance[::m]
            right += bool((abs(distance[1:] - predicted * distance[:-1]) < TOLERANCE).all())
            law = distance[0] * predicted ** np.arange(len(clock))
            if predicted > TOLERANCE:
                lines += [line(graph, clock, distance), line("lam^t", clock, law, "theory")]
        count = len(self.modes(n))
        reason = f"graphs of {count} where every mixing contracts so, to {TOLERANCE:g}; n = {n}"
        return equal(self.subject, count, [right], reason).drawn(
            Series("Disagreement", "clock", "|X - J X|", tuple(lines), log_y=True)
        )


claims.register("spectral_gap")(SpectralGap())
