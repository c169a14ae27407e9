"""Gossip agrees as fast as its graph lets it: one mixing shrinks the disagreement by lam.

Theorem     gossip-consensus: |X_T - J X_0| <= lam^T |X_0 - J X_0|, attained by the slowest mode;
            lam = |W - J|_2 in closed form
Measured    workers start apart and only average; after enough mixings nothing but the slowest
            mode is left, and the last ratios of successive distances are lam: the interval spans
            two of them, there is no noise. A complete graph agrees at once: lam = 0
Broken if   the graph is not the one that is claimed
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.claims import Budget, claims
from bench.jobs import Found, Job
from bench.judge import Subject, Verdict, equal, undecided
from bench.wrappers import Scattered
from mpiddl.arrays import Array
from mpiddl.problems.quadratic import iso
from mpiddl.train import Run
from mpiddl.variant import Variant

__all__ = ["SpectralGap"]

THEOREM = "gossip-consensus"
LEAST = 4  # ranks: a ring of three is complete
ROUNDING = 1e-10  # a smaller distance, between models of order 1, is none
TOLERANCE = 1e-3


@dataclass(frozen=True)
class SpectralGap:
    """The claim that gossip on `graph` contracts with the lam of the graph `claimed`."""

    graph: str
    claimed: str

    @property
    def subject(self) -> Subject:
        """What is judged."""
        return Subject(f"gossip on a {self.claimed} graph contracts by lam", THEOREM)

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return one run of pure averaging."""
        if budget.ranks < LEAST:
            return ()
        variant = Variant.parse(f"bsp / gossip:{self.graph} / identity / whole / sgd:1")
        start = Scattered(iso(budget.ranks, budget.seed))
        run = Run(variant, start, clocks(self.graph, budget.ranks), every=1)
        return [Job(("spectral_gap", self.graph), run, mpi=True)]

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge the last contractions against the closed form."""
        from theory.mixing import lam

        if budget.ranks < LEAST:
            return undecided(self.subject, f"needs {LEAST} ranks, there are {budget.ranks}")
        predicted, curve = lam(self.claimed, budget.ranks), found["spectral_gap", self.graph].curve
        measured = contractions(curve["consensus2"])
        reason = f"|X - J X| from clock to clock after {len(curve.rows) - 1}, n = {budget.ranks}"
        return equal(self.subject, predicted, measured, reason, TOLERANCE)


def clocks(graph: str, ranks: int) -> int:
    """Return after how many mixings only the slowest mode of a ring is left, to 1e-2 in |X|.

    The eigenvalues of a ring are (1 + 2 cos(2 pi k / n)) / 3; other graphs get 8 mixings.
    """
    if graph != "ring":
        return 8
    ring = np.abs(1 + 2 * np.cos(2 * np.pi * np.arange(1, ranks) / ranks)) / 3
    first = ring.max()
    second = ring[ring < first - 1e-9].max(initial=0.0)
    return 8 if second == 0 else 8 + int(np.log(1e-2) / np.log(second / first))


def contractions(consensus2: Array) -> list[float]:
    """Return the last ratios of successive distances, from the mean squares (clocks + 1,)."""
    distance = np.sqrt(consensus2[1:])  # before the first clock all models are x0
    before, after = distance[:-1], distance[1:]
    meaningful = before > ROUNDING
    return [float(ratio) for ratio in (after[meaningful] / before[meaningful])[-2:]] or [0.0]


for name in ("ring", "complete"):
    claims.register(f"spectral_gap_{name}")(SpectralGap(name, name))
