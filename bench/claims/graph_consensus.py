"""Workers on a graph stay as close as its lam keeps them, in whichever order they mix and move.

Theorem     dpsgd-nonconvex-atc and -cta, their lemmas: (1/n) sum |x_i - xbar|^2 is at most
            c^2 gam^2 (zeta / (1 - r) + sigma sqrt((1 - 1/n) / (1 - r^2)))^2
Problem     f_i = |x|^2 / 2 + <s_i, x>; on a ring, in both orders, with noise, where the s_i are its
            slowest mode, the disagreement that it mixes worst; and on all graphs that stay, from
            the minimum and without noise, where the s_i are the slowest mode of each
Measured    that mean where gradients are taken, over the lemma; the largest counts
Broken if   the graph mixes less than the one that is claimed
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from bench.claims import Budget, claims
from bench.claims.spectral_gap import GRAPHS, SpectralGap, gap_of, turn
from bench.jobs import Found, Job
from bench.judge import Subject, Verdict, bound, worst
from bench.series import Line, Series, line, measured
from bench.wrappers import Wrapped
from mpiddl.arrays import Array
from mpiddl.problems.quadratic import iso
from mpiddl.train import Run
from mpiddl.variant import Variant

__all__ = ["GraphConsensus"]

WORKERS, CLOCKS, GAM, SIGMA2, ZETA2 = 8, 60, 0.02, 0.01, 1.0
ORDERS = ("atc", "cta")


LINE = "bsp / gossip:{} / identity / whole / sgd:{}"


class Pulled(Wrapped):
    """Worker i pulls to s_i = sqrt(n zeta2) mode_i, without noise; mode (n,) has length 1."""

    def __init__(self, workers: int, seed: int, mode: Array) -> None:
        super().__init__(iso(workers, seed, d=1, radius=0.0))
        self.shifts = np.sqrt(workers * ZETA2) * mode

    def batch(self, worker: int, step: int) -> Array:
        """Return s_i, (1,)."""
        return self.shifts[worker : worker + 1].copy()


@dataclass(frozen=True)
class GraphConsensus:
    """The claim that gossip on each graph keeps the lemma of the graph it is claimed for.

    `graph` and `claimed` are of the runs with noise, `graphs` maps those of the others.
    """

    graph: str = "ring"
    claimed: str = "ring"
    graphs: Mapping[str, str] = field(default_factory=lambda: {graph: graph for graph in GRAPHS})

    subject: ClassVar[Subject] = Subject(
        "graphs keep workers within their lemmas", "dpsgd-nonconvex"
    )

    @property
    def steady(self) -> dict[str, Array]:
        """The slowest mode (n,) of each graph that stays as it is and does not mix at once."""
        modes = SpectralGap(self.graphs).modes(WORKERS)
        stay = {graph: mode for graph, mode in modes.items() if len(turn(graph, WORKERS)) == 1}
        return {graph: mode for graph, mode in stay.items() if graph != "complete"}

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return one run per order and seed, and one per graph, simulated."""
        noisy = [
            budget.job(
                ("graph_consensus", self.graph, order, seed),
                Run(
                    Variant.parse(LINE.format(f"{self.graph},order={order}", GAM)),
                    iso(WORKERS, seed, sigma2=SIGMA2, zeta2=ZETA2),
                    CLOCKS,
                    every=1,
                ),
            )
            for order in ORDERS
            for seed in budget.all_seeds
        ]
        variants = {graph: Variant.parse(LINE.format(graph, GAM)) for graph in self.steady}
        return noisy + [
            Job(
                ("graph_consensus", graph),
                Run(variants[graph], Pulled(WORKERS, budget.seed, mode), CLOCKS, every=1),
            )
            for graph, mode in self.steady.items()
        ]

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge the mean squared distances to the mean model against the lemmas."""
        both, lines = [], list[Line]()
        for order in ORDERS:
            apart = [
                found["graph_consensus", self.graph, order, seed].curve["consensus2"]
                for seed in budget.all_seeds
            ]
            limit = lemma(order, gap_of(self.claimed, WORKERS))
            limits = [limit] * len(apart)
            both.append(bound(self.subject, [one[:-1].mean() for one in apart], limits, ""))
            clocks = range(CLOCKS + 1)
            lines += [
                measured(order, clocks, apart),
                line(f"{order}, lemma", clocks, limit, "bound"),
            ]
        others, picture = self.all_graphs(found)
        nearest = worst(list(others.values()))
        name = next(graph for graph, verdict in others.items() if verdict is nearest)
        reason = (
            f"|x_i - xbar|^2 over the lemma: on a {self.claimed} {both[0].measured:.2f} (atc) and "
            f"{both[1].measured:.2f} (cta), {budget.told(WORKERS)}; of {len(others)} graphs, one "
            f"run each, nearest to it on {name}, {nearest.measured:.2f}; n = {WORKERS}"
        )
        noisy = Series("Workers on a graph", "clock", "|x_i - xbar|^2", tuple(lines))
        return replace(worst([*both, nearest]), reason=reason).drawn(noisy, picture)

    def all_graphs(self, found: Found) -> tuple[dict[str, Verdict], Series]:
        """Return a verdict per graph, and the distances over the spectral gaps."""
        gaps = {graph: gap_of(self.graphs[graph], WORKERS) for graph in self.steady}
        order = sorted(gaps, key=lambda graph: -gaps[graph])
        apart = [found["graph_consensus", one].curve["consensus2"][:-1].mean() for one in order]
        limits = [lemma("atc", gaps[graph], 0.0) for graph in order]
        verdicts = {
            graph: bound(self.subject, [seen], [limit], "", exact=True)
            for graph, seen, limit in zip(order, apart, limits, strict=True)
        }
        x = [1 - gaps[graph] for graph in order]
        names = " < ".join(graph.replace("weights=", "").replace(",", " ") for graph in order)
        lines = line(f"measured: {names}", x, apart), line("lemma", x, limits, "bound")
        labels = "spectral gap 1 - lam", "|x_i - xbar|^2"
        return verdicts, Series("All graphs", *labels, lines, log_x=True, log_y=True)


def lemma(order: str, lam: float, sigma2: float = SIGMA2) -> float:
    """Return the bound on the mean squared distance."""
    from theory.catalogue import THEOREMS

    return THEOREMS[f"dpsgd-nonconvex-{order}"].perturbation_at(
        n=WORKERS,
        T=CLOCKS,
        gam=GAM,
        L=1.0,
        lam=lam,
        sigma2=sigma2,
        zeta2=ZETA2,
        Delta=0.5,
    )


claims.register("graph_consensus")(GraphConsensus())
