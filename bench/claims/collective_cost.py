"""Every exchange costs what its formula says: messages, bytes and seconds, exactly.

Theorem     the closed forms of `theory.cost` in n, the vector and the network, for all-reduces,
            all-gathers, gossip and parameter servers
Measured    messages and bytes of every clock, in the simulator and under MPI; and virtual seconds
            of a clock on the network of this bench. Of a server only the pushes are timed, half of
            a clock: its answers overlap the next pushes
Regime      n divides the vector, so all blocks are alike; gossip on graphs that look alike from
            every worker, of the others the seconds are not known
Broken if   one message, one byte or one wait is too many
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from bench.claims import Budget, claims
from bench.jobs import Found, Job, Outcome
from bench.judge import Subject, Verdict, equal
from bench.series import Series, line
from mpiddl.comm.collectives import allgathers, allreduces
from mpiddl.problems.quadratic import iso
from mpiddl.train import Run
from mpiddl.variant import Variant

if TYPE_CHECKING:
    from theory.cost import Cost, Evaluated

__all__ = ["CollectiveCost"]

LEAST = 2  # workers
ENTRIES, WIDTH, SHARE, CLOCKS = 720, 8, 0.25, 3
TOLERANCE = 1e-9  # of seconds, relative: they are sums of many roundings
SPARSE = f"topk:{SHARE}"  # what all-gathers gather


def exchanges() -> list[str]:
    """Return architecture and channel of everything that is timed."""
    sums = [f"allreduce:{name} / identity" for name in allreduces if name != "native"]
    gathers = [f"allreduce:gather={name} / {SPARSE}" for name in allgathers]
    graphs = [f"gossip:{graph} / identity" for graph in ("complete", "exponential", "ring")]
    return [*sums, *gathers, *graphs, "ps / identity", "ps:servers=1 / identity"]


@dataclass(frozen=True)
class CollectiveCost:
    """The claim; `pretended` says of some exchanges that they cost what another one does."""

    pretended: Mapping[str, str] = field(default_factory=dict)

    subject: ClassVar[Subject] = Subject(
        "messages, bytes and seconds of an exchange are its formula", "theory.cost"
    )

    def jobs(self, budget: Budget) -> Sequence[Job]:
        """Return one run per exchange."""
        n = budget.workers(LEAST)
        problem = iso(n, budget.seed, d=entries(n))
        return [
            replace(
                budget.job(
                    ("collective_cost", text),
                    Run(Variant.parse(f"bsp / {text} / whole / sgd:0.1"), problem, CLOCKS, every=1),
                ),
                network=budget.network,
            )
            for text in exchanges()
        ]

    def judge(self, found: Found, budget: Budget) -> Verdict:
        """Count the exchanges that cost what is claimed."""
        wrong, points = [], []
        for text in exchanges():
            outcome = found["collective_cost", text]
            cost = formula(self.pretended.get(text, text), budget)
            if cost is None:
                continue
            seconds = outcome.curve["seconds"]
            taken = 2 * seconds[1] if text.startswith("ps") else seconds[-1] - seconds[-2]
            points.append((cost.time, float(taken)))
            timely = abs(taken - cost.time) <= TOLERANCE * cost.time
            if not (timely and counted(outcome, cost)):
                wrong.append(text)
        reason = f"exchanges of {len(points)} where all three are; n = {budget.workers(LEAST)}"
        if wrong:
            reason = f"{reason}; the first other is {wrong[0]}"
        points.sort()
        told, taken = zip(*points, strict=True)
        return equal(self.subject, len(points), [len(points) - len(wrong)], reason).drawn(
            Series(
                "Seconds of a clock",
                "formula",
                "simulated",
                (line("exchanges", told, taken), line("equal", told, told, "theory")),
                log_x=True,
                log_y=True,
            )
        )


def entries(n: int) -> int:
    """Return the length of the vector, which n divides."""
    return n * -(-ENTRIES // n)


def counted(outcome: Outcome, cost: Evaluated) -> bool:
    """Whether messages and bytes of all clocks are those of the formula, wherever it ran."""
    curves = [curve for curve in (outcome.curve, outcome.real) if curve is not None]
    return all(
        curve[name][-1] == total * CLOCKS
        for curve in curves
        for name, total in (("messages", cost.messages), ("bytes", cost.bytes))
    )


def formula(text: str, budget: Budget) -> Evaluated | None:
    """Return the cost of one clock of an exchange; None if there is no formula."""
    from theory.cost import ALLGATHER, ALLREDUCE, gossip_by, parameter_server
    from theory.wire import PAYLOAD

    n = budget.workers(LEAST)
    b, network = entries(n), budget.network

    def at(cost: Cost, b: int, w: int = 1) -> Evaluated:
        return cost.at(n=n, b=b, w=w, al=network.alpha, be=network.beta, ga=network.gamma)

    architecture: Any = Variant.parse(f"bsp / {text} / whole / sgd:1").architecture
    kind, _, name = text.partition(" / ")[0].rpartition(":")
    if kind == "gossip":
        return at(gossip_by(architecture.matrices(n)[0]), b, WIDTH)
    if "gather=" in name:
        payload = int(PAYLOAD["topk"](b, WIDTH, SHARE))
        return at(ALLGATHER[name.removeprefix("gather=")], payload)
    if architecture.served:
        return at(parameter_server(architecture.servers or None), b, WIDTH)
    return at(ALLREDUCE[name], b, WIDTH) if name in ALLREDUCE else None


claims.register("collective_cost")(CollectiveCost())
