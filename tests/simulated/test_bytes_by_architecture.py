"""What each architecture sends in a run is what `theory.cost` and `theory.wire` say, to the byte.

Here the formulas are written down by hand for each line; `bench.predict` looks them up by itself.
"""

from __future__ import annotations

import numpy as np
import pytest

from mpiddl.architecture import architectures
from mpiddl.comm.simulated import Network
from mpiddl.ledger import FIELDS
from mpiddl.problems import problem
from mpiddl.train import Run, simulate
from mpiddl.variant import Variant
from theory.cost import (
    ALLGATHER,
    ALLREDUCE,
    backup_workers,
    dynamic,
    eager,
    gossip,
    gossip_by,
    pairwise,
    parameter_server,
    served,
)
from theory.mixing import matrix
from theory.wire import MESSAGE, PAYLOAD

CLOCKS, D, W = 4, 21, 8
NETWORK = Network(alpha=1e-5, beta=1e-9)
LANE, PLACE, UP = (FIELDS.index(name) for name in ("lane", "place", "up_bytes"))
MEAN = ALLREDUCE["halving_doubling"]


def words(name, *levels):
    """Return the bytes of so many entries."""
    return lambda b: int(PAYLOAD[name](b, W, *levels))


def topk(b):
    """Return the bytes in which topk:0.3 says so many entries."""
    return int(PAYLOAD["topk"](b, W, 0.3))


def clocks(cost, n, b=D, w=W):
    """Return what all clocks cost that cost the same."""
    at = cost.at(n=n, b=b, w=w)
    return CLOCKS * at.messages, CLOCKS * at.bytes


def spoken(kind, graph, say):
    """Return the formula of neighbours in `graph` who say messages of this kind in these words."""
    return lambda n, _: clocks(gossip_by(matrix(graph, n)), n, MESSAGE[kind](say, D, W), 1)


def met(say):
    """Return the formula of meetings, of which the ledger has all that were completed."""

    def total(n, services):
        meetings = int((services[:, UP] > 0).sum())
        assert meetings == CLOCKS * n
        cost = pairwise(meetings).at(n=n, b=MESSAGE["pairwise"](say, D, W))
        return cost.messages, cost.bytes

    return total


def begun(mean, b=D, w=W):
    """Return the formula of means that some begin: each round is in the ledger of rank 0."""

    def total(n, services):
        rounds = int(((services[:, LANE] == 0) & (services[:, PLACE] == 0)).sum())
        cost = eager(mean, CLOCKS * (n - 1), rounds).at(n=n, b=b, w=w)
        return cost.messages, cost.bytes

    return total


def agreed(means):
    """Return the formula of so many means that were needed."""

    def total(n, _):
        cost = dynamic(MEAN, MEAN, CLOCKS, means).at(n=n, b=D, w=W)
        return cost.messages, cost.bytes

    return total


def to_servers(servers, up, down):
    """Return the formula of pushes and answers in these words."""

    def total(n, _):
        cost = served(servers, n, D, up, down)
        return CLOCKS * cost.messages, CLOCKS * cost.bytes

    return total


def closed(n, services):
    """Of the one server, whose answers to pushes all are in the ledger."""
    cost = backup_workers(len(services), 1).at(n=n, b=D, w=W)
    return cost.messages, cost.bytes


PLAIN, FP16, SIGN = words("identity"), words("fp16"), words("sign")
TOTALS = {
    "bsp / allreduce / identity": lambda n, _: clocks(MEAN, n),
    "ssp:1 / allreduce:ring / identity": lambda n, _: clocks(ALLREDUCE["ring"], n),
    "bsp / allreduce / ef+topk:0.3": lambda n, _: clocks(ALLGATHER["bruck"], n, topk(D), 1),
    "asp / allreduce:quorum=solo / identity": begun(MEAN),
    "ssp:2 / allreduce:quorum=majority / ef+topk:0.3": begun(ALLGATHER["bruck"], topk(D), 1),
    "bsp / dynamic:0 / identity": agreed(CLOCKS),
    "local:2 / dynamic:inf / identity": agreed(0),
    "bsp / ps / identity": lambda n, _: clocks(parameter_server(), n),
    "ssp:1 / ps:servers=2,down=diff+sign / ef+topk:0.3": to_servers(2, topk, SIGN),
    "bsp / ps:servers=1,backup=1 / identity": closed,
    "local:2 / easgd:servers=2 / identity": to_servers(2, PLAIN, PLAIN),
    "asp / dc_asgd:servers=1 / identity": to_servers(1, PLAIN, PLAIN),
    "asp / staleness_aware:servers=2 / fp16": to_servers(2, FP16, PLAIN),
    "bsp / gossip:ring / identity": lambda n, _: clocks(gossip(2), n),
    "bsp / gossip:star / diff+sign": spoken("gossip", "star", SIGN),
    "ssp:2 / gossip:ring / identity": spoken("gossip", "ring", PLAIN),
    "asp / gossip:exponential / topk:0.3": spoken("gossip", "exponential", topk),
    "bsp / d2:torus / qsgd:4": spoken("d2", "torus", words("qsgd", 4)),
    "bsp / tracking:path / fp16": spoken("tracking", "path", FP16),
    "bsp / push_sum:exponential / sign": spoken("push_sum", "exponential", SIGN),
    "asp / pairwise:complete / identity": met(PLAIN),
    "asp:period=2 / pairwise:ring / identity": met(PLAIN),
    "asp / pairwise:star / fp16": met(FP16),
}


def run(line, n):
    """Return messages and bytes of a run in which some are slow, and its ledger."""
    pace = np.random.default_rng(n).exponential(1e-3, n)
    made = problem("nc", n, seed=1, d=D, zeta2=0.5)
    variant = Variant.parse(f"{line} / whole / sgd:0.1")
    job = Run(variant, made, CLOCKS, every=CLOCKS, compute=lambda worker, _: float(pace[worker]))
    result = simulate(job, NETWORK)[0]
    return (result.curve["messages"][-1], result.curve["bytes"][-1]), result.services


@pytest.mark.parametrize("line", TOTALS)
@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_a_run_sends_what_the_formula_says(line, n):
    sent, services = run(line, n)
    assert sent == TOTALS[line](n, services)


def test_every_architecture_has_a_formula():
    assert {line.split(" / ")[1].split(":")[0] for line in TOTALS} == set(architectures)


WRONG = {
    "asp / pairwise:complete / identity": met(SIGN),
    "asp / gossip:exponential / topk:0.3": spoken("push_sum", "exponential", topk),
    "bsp / tracking:path / fp16": lambda n, _: clocks(
        gossip_by(matrix("path", n)), n, 2 * FP16(D), 1
    ),
    "bsp / push_sum:exponential / sign": spoken("gossip", "exponential", SIGN),
    "asp / allreduce:quorum=solo / identity": lambda n, _: clocks(MEAN, n),
    "bsp / dynamic:0 / identity": agreed(CLOCKS - 1),
    "asp / staleness_aware:servers=2 / fp16": to_servers(1, FP16, PLAIN),
}


@pytest.mark.parametrize("line", WRONG)
def test_another_formula_is_noticed(line):
    """Negative control: shorter words, one entry more or less, a scale too many, a mean less."""
    sent, services = run(line, 5)
    assert sent != WRONG[line](5, services)
