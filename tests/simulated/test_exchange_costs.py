"""Whole variants cost what theory/cost says: messages, bytes and virtual time, as equalities."""

from __future__ import annotations

import pytest

from mpiddl.comm.simulated import Network
from mpiddl.problems import problem
from mpiddl.train import Run, simulate
from mpiddl.variant import Variant
from theory.cost import ALLGATHER, ALLREDUCE, gossip
from theory.wire import PAYLOAD

NETWORK = Network(2.0**-16, 2.0**-30, 2.0**-33)  # powers of two add exactly
UNITS = {"al": NETWORK.alpha, "be": NETWORK.beta, "ga": NETWORK.gamma}
COMPUTE, CLOCKS, D, W = 2.0**-14, 6, 720, 8  # every n divides d: all ring blocks are alike
COSTS = {
    "bsp / allreduce / identity / whole / sgd:0.1": lambda n: ALLREDUCE["halving_doubling"].at(
        n=n, b=D, w=W, **UNITS
    ),
    "local:3 / allreduce:ring / identity / whole / sgd:0.1": lambda n: ALLREDUCE["ring"].at(
        n=n, b=D, w=W, **UNITS
    ),
    "bsp / allreduce / ef+topk:0.3 / whole / sgd:0.1": lambda n: ALLGATHER["bruck"].at(
        n=n, b=int(PAYLOAD["topk"](D, W, 0.3)), **UNITS
    ),
    "bsp / allreduce / sign / whole / sgd:0.1": lambda n: ALLGATHER["bruck"].at(
        n=n, b=int(PAYLOAD["sign"](D, W)), **UNITS
    ),
    "bsp / allreduce:gather=ring / sign / whole / sgd:0.1": lambda n: ALLGATHER["ring"].at(
        n=n, b=int(PAYLOAD["sign"](D, W)), **UNITS
    ),
    "bsp / allreduce:torus / identity / whole / sgd:0.1": lambda n: ALLREDUCE["torus"].at(
        n=n, b=D, w=W, **UNITS
    ),
    "bsp / allreduce:hierarchical / identity / whole / sgd:0.1": lambda n: ALLREDUCE[
        "hierarchical"
    ].at(n=n, b=D, w=W, **UNITS),
    "bsp / gossip:ring / identity / whole / sgd:0.1": lambda n: gossip(2).at(
        n=n, b=D, w=W, **UNITS
    ),
    "local:2 / gossip:complete / identity / whole / sgd:0.1": lambda n: gossip(n - 1).at(
        n=n, b=D, w=W, **UNITS
    ),
}


@pytest.mark.parametrize("line", COSTS)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 9, 16])
def test_a_run_costs_its_clocks(line, n):
    variant = Variant.parse(line)
    job = Run(variant, problem("nc", n, d=D), CLOCKS, every=1, compute=COMPUTE)
    curve = simulate(job, NETWORK)[0].curve
    cost = COSTS[line](n)
    clocks = range(CLOCKS + 1)
    assert curve["messages"].tolist() == [cost.messages * c for c in clocks]
    assert curve["bytes"].tolist() == [cost.bytes * c for c in clocks]
    clock = COMPUTE * variant.sync.period + cost.time
    assert curve["seconds"].tolist() == [clock * c for c in clocks]


def test_the_comparison_notices_one_message_too_many():
    line = "bsp / gossip:ring / identity / whole / sgd:0.1"
    job = Run(Variant.parse(line), problem("nc", 5, d=D), CLOCKS, every=1)
    curve = simulate(job, NETWORK)[0].curve
    assert curve["messages"][-1] != CLOCKS * gossip(3).at(n=5, b=D, w=W, **UNITS).messages
