"""Workers on a graph stay as close as its lam keeps them, in whichever order they mix and move.

Theorem     dpsgd-nonconvex-atc and -cta, their lemmas: (1/n) sum |x_i - xbar|^2 is at most
            c^2 gam^2 (zeta / (1 - r) + sigma sqrt((1 - 1/n) / (1 - r^2)))^2
Problem     f_i = |x|^2 / 2 + <s_i, x> on a ring, whose slowest mode the s_i are: the disagreement
            that a ring mixes worst
Measured    that mean where gradients are taken, over the lemma, for both orders; the larger counts
Broken if   the graph mixes less than the one that is claimed
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from bench.claims import Budget, claims
from bench.jobs import Found, Job
from bench.judge import Subject, Verdict, bound
from bench.series import Line, Series, line, measured
from mpiddl.problems.quadratic import iso
from mpiddl.train import Run
from mpiddl.variant import Variant

__all__ = ["GraphConsensus"]

WORKERS, CLOCKS, GAM, SIGMA2, ZETA2 = 8, 60, 0.02, 0.01, 1.0
ORDERS = ("atc", "cta")


@dataclass(frozen=True)
class GraphConsensus:
    """The claim that gossip on `graph` keeps the lemma of the graph `claimed`."""

    graph: str = "ring"
    claimed: str = "ring"

    subject: ClassVar[Subject] = Subject(
        "a graph keeps workers within its lemma", "dpsgd-nonconvex"
    )

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return one run per order and seed."""
        text = "bsp / gossip:{},order={} / identity / whole / sgd:{}"
        return [
            budget.job(
                ("graph_consensus", self.graph, order, seed),
                Run(
                    Variant.parse(text.format(self.graph, order, GAM)),
                    iso(WORKERS, seed, sigma2=SIGMA2, zeta2=ZETA2),
                    CLOCKS,
                    every=1,
                ),
            )
            for order in ORDERS
            for seed in budget.all_seeds
        ]

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge the mean squared distance to the mean model against the lemmas."""
        both, lines = [], list[Line]()
        for order in ORDERS:
            apart = [
                found["graph_consensus", self.graph, order, seed].curve["consensus2"]
                for seed in budget.all_seeds
            ]
            limit = lemma(order, self.claimed)
            limits = [limit] * len(apart)
            both.append(bound(self.subject, [one[:-1].mean() for one in apart], limits, ""))
            clocks = range(CLOCKS + 1)
            lines += [
                measured(order, clocks, apart),
                line(f"{order}, lemma", clocks, limit, "bound"),
            ]
        worst = max(both, key=lambda verdict: verdict.high)
        reason = (
            f"|x_i - xbar|^2 over the lemma on a {self.claimed}, {both[0].measured:.2f} (atc) and "
            f"{both[1].measured:.2f} (cta); n = {WORKERS}, {budget.told(WORKERS)}"
        )
        return replace(worst, reason=reason).drawn(
            Series("Workers on a graph", "clock", "|x_i - xbar|^2", tuple(lines))
        )


def lemma(order: str, graph: str) -> float:
    """Return the bound on the mean squared distance."""
    from theory.catalogue import THEOREMS
    from theory.mixing import lam

    return THEOREMS[f"dpsgd-nonconvex-{order}"].perturbation_at(
        n=WORKERS,
        T=CLOCKS,
        gam=GAM,
        L=1.0,
        lam=lam(graph, WORKERS),
        sigma2=SIGMA2,
        zeta2=ZETA2,
        Delta=0.5,
    )


claims.register("graph_consensus")(GraphConsensus())
