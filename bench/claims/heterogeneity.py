"""Where workers differ, D-PSGD ends beside the minimum, exactly so far; D2 and tracking reach it.

Theorem     without noise D-PSGD (adapt, then combine) ends where
                x_i = sum_j W_ij (x_j - gam grad f_j(x_j)),
            n d linear equations for quadratics. D2 and gradient tracking end at x_i = x*
Problem     heta: quadratics that bend differently on every worker around minima of their own, and
            a shift more, whose size zeta2 is dialled
Measured    sqrt((1/n) sum |x_i - x*|^2) after the last clock: of D-PSGD over that of the solution,
            for every zeta2; of the others it is below `THERE`
Broken if   D-PSGD is said to converge, or the others to stall
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from bench.claims import Budget, claims
from bench.jobs import Found, Job
from bench.judge import Outcome as Decision
from bench.judge import Subject, Verdict, equal
from bench.series import Series, line
from mpiddl.arrays import Array
from mpiddl.problems.heta import Quadratics, heta
from mpiddl.train import Run
from mpiddl.variant import Variant

__all__ = ["Heterogeneity"]

WORKERS, CLOCKS, GAM = 6, 140, 0.4
GRAPH, SPECTRUM = "ring", tuple(float(a) for a in np.geomspace(0.25, 1.0, 6))
ZETA2 = (0.0, 1.0, 4.0)
SHOWN = 1.0  # of these, clock by clock
THERE, TOLERANCE = 1e-10, 1e-8


@dataclass(frozen=True)
class Heterogeneity:
    """The claim that `stalls` ends where the equations say, and all of `converge` at x*."""

    stalls: str = f"gossip:{GRAPH}"
    converge: tuple[str, ...] = (f"d2:{GRAPH}", f"tracking:{GRAPH}")

    subject: ClassVar[Subject] = Subject(
        "with workers that differ D-PSGD stalls where it must, D2 and tracking don't",
        "X = W (X - gam grad F(X))",
    )

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return one run per architecture and zeta2; without noise there is nothing to repeat."""
        return [
            Job(
                ("heterogeneity", architecture, zeta2),
                Run(
                    Variant.parse(f"bsp / {architecture} / identity / whole / sgd:{GAM}"),
                    learnt(budget.seed, zeta2),
                    CLOCKS,
                    every=4,
                ),
            )
            for architecture in (self.stalls, *self.converge)
            for zeta2 in ZETA2
        ]

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Judge where all have come to."""
        names, away = (self.stalls, *self.converge), {}
        for name in names:
            for zeta2 in ZETA2:
                curve = found["heterogeneity", name, zeta2].curve
                away[name, zeta2] = np.sqrt(curve["consensus2"] + curve["distance2"])
        stalled = [float(away[self.stalls, zeta2][-1]) for zeta2 in ZETA2]
        told = [distance(learnt(budget.seed, zeta2)) for zeta2 in ZETA2]
        left = np.max([away[name, zeta2][-1] for name in self.converge for zeta2 in ZETA2])
        reason = (
            f"distance of {self.stalls} over that of the fixed point, zeta2 = "
            f"{', '.join(f'{zeta2:g}' for zeta2 in ZETA2)}; of {' and '.join(self.converge)} "
            f"{left:.0e} is left; n = {WORKERS}, simulated"
        )
        ratios = [seen / value for seen, value in zip(stalled, told, strict=True)]
        verdict = equal(self.subject, 1.0, ratios, reason, TOLERANCE)
        if not left < THERE:  # nor if it is nan
            verdict = replace(verdict, outcome=Decision.FAILS)
        clocks = found["heterogeneity", self.stalls, SHOWN].curve["clock"]
        lines = [line(name, clocks, np.maximum(away[name, SHOWN], 1e-16)) for name in names]
        lines.append(line("fixed point of D-PSGD", clocks, told[ZETA2.index(SHOWN)], "theory"))
        ended = line(self.stalls, ZETA2, stalled), line("fixed point", ZETA2, told, "theory")
        label = "|x_i - x*|"
        return verdict.drawn(
            Series(f"Workers differ, zeta2 = {SHOWN:g}", "clock", label, tuple(lines), log_y=True),
            Series("Where D-PSGD ends", "zeta2", label, ended),
        )


def learnt(seed: int, zeta2: float) -> Quadratics:
    """Return the problem; it has no noise, so the seed does not matter."""
    options = {"spectrum": SPECTRUM, "sigma2": 0.0, "radius": 0.0}
    found: Quadratics = heta(WORKERS, seed, zeta2=zeta2, **options)
    return found


def distance(problem: Quadratics) -> float:
    """Return sqrt((1/n) sum |x_i - x*|^2) at the fixed point of D-PSGD."""
    from theory.mixing import matrix

    n, d = WORKERS, problem.layout.size
    w, zero = matrix(GRAPH, n), np.zeros(d)
    pull = -GAM * np.stack([problem.full_gradient(zero, i) for i in range(n)])
    step = np.eye(d) - GAM * problem.matrices
    moved = np.einsum("ij,jkl->ikjl", w, step).reshape(n * d, n * d)
    x: Array = np.linalg.solve(np.eye(n * d) - moved, (w @ pull).ravel()).reshape(n, d)
    return float(np.sqrt(np.sum((x - problem.optimum) ** 2) / n))


claims.register("heterogeneity")(Heterogeneity())
