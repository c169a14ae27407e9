"""Gossip agrees as fast as its graph lets it: one mixing shrinks the disagreement by lam.

Theorem     gossip-consensus: |X_T - J X_0| <= lam^T |X_0 - J X_0|, attained by the slowest mode;
            lam = |W - J|_2 in closed form
Measured    workers start apart along the slowest mode of W and only average: every clock shrinks
            their distance by lam, to rounding. A complete graph agrees at once: lam = 0
Broken if   a graph is not the one that is claimed
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from bench.claims import Budget, claims
from bench.jobs import Found, Job
from bench.judge import Subject, Verdict, equal
from bench.series import Series, line
from bench.wrappers import Scattered
from mpiddl.architecture.topology import find
from mpiddl.arrays import Array
from mpiddl.errors import ConfigurationError
from mpiddl.problems.quadratic import iso
from mpiddl.train import Run
from mpiddl.variant import Variant

__all__ = ["SpectralGap"]

GRAPHS = ("complete", "exponential", "hypercube", "path", "ring", "star", "torus")
LEAST, USUAL = 4, 8  # workers: a ring of three is complete
CLOCKS = 8
TOLERANCE = 1e-9


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
        found = {}
        for graph in self.graphs:
            try:
                w = find(graph).matrix(n)
            except ConfigurationError:  # no hypercube of this many
                continue
            found[graph] = np.linalg.svd(w - 1 / n)[2][0]
        return found

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return one run of pure averaging per graph."""
        n = size(budget)
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
        """Count the graphs on which every contraction is the closed form."""
        from theory.mixing import lam

        n, lines, right = size(budget), [], 0
        for graph, mode in self.modes(n).items():
            predicted = lam(self.graphs[graph], n)
            distance = np.sqrt(n * found["spectral_gap", graph].curve["consensus2"])
            distance[0] = np.linalg.norm(mode - mode.mean())  # before the first clock all are x0
            right += bool((abs(distance[1:] - predicted * distance[:-1]) < TOLERANCE).all())
            clock, law = range(CLOCKS + 1), distance[0] * predicted ** np.arange(CLOCKS + 1)
            if predicted:
                lines += [line(graph, clock, distance), line(f"lam {graph}", clock, law, "theory")]
        count = len(self.modes(n))
        reason = f"graphs of {count} where every mixing contracts so, to {TOLERANCE:g}; n = {n}"
        return equal(self.subject, count, [right], reason).drawn(
            Series("Disagreement", "clock", "|X - J X|", tuple(lines), log_y=True)
        )


def size(budget: Budget) -> int:
    """Return the number of workers."""
    return budget.ranks if budget.ranks >= LEAST else USUAL


claims.register("spectral_gap")(SpectralGap())
