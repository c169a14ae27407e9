"""Of which clock the step size is that an outer optimizer takes, architecture by architecture."""

from __future__ import annotations

from collections import Counter

import pytest

from mpiddl import stragglers
from mpiddl.architecture import architectures
from mpiddl.comm.simulated import Network
from mpiddl.optim import sgd
from mpiddl.problems import problem
from mpiddl.train import Run, simulate
from mpiddl.variant import Variant

WORKERS, CLOCKS, RATE = 3, 5, 0.5
EACH = [clock for clock in range(CLOCKS) for _ in range(WORKERS)]  # a push counts 1/n of a clock
LINES = {  # (line, seats): the clocks of all steps, in order of their size
    ("bsp / allreduce", "none>sgd:0.5"): EACH,
    ("ssp:2 / allreduce", "none>sgd:0.5"): EACH,
    ("bsp / dynamic:0", "sgd:0.1>sgd:0.5"): EACH,
    ("bsp / ps:servers=1", "none>sgd:0.5"): range(CLOCKS),
    ("bsp / ps:servers=1,backup=1", "none>sgd:0.5"): range(CLOCKS),
    ("ssp:1 / ps:servers=1", "none>sgd:0.5"): EACH,
    ("asp / staleness_aware:servers=1", "none>sgd:0.5"): EACH,
    ("asp / dc_asgd:servers=1", "none>sgd:0.5"): EACH,
    ("bsp / easgd:servers=1", "sgd:0.1>sgd:0.5"): range(CLOCKS),
    ("asp / easgd:servers=1", "sgd:0.1>sgd:0.5"): EACH,
    ("bsp / gossip:ring", "sgd:0.1>sgd:0.5"): EACH,
    ("asp / gossip:ring", "sgd:0.1>sgd:0.5"): EACH,
    ("asp / pairwise:complete", "sgd:0.1>sgd:0.5"): EACH,
    ("bsp / tracking:ring", "none>sgd:0.5"): EACH,
    ("bsp / push_sum:exponential", "sgd:0.1>sgd:0.5"): EACH,
}


@pytest.mark.parametrize(("line", "seats"), LINES)
def test_a_step_has_the_size_of_its_clock(line, seats, monkeypatch):
    taken, apply = [], sgd._SGD.apply

    def noted(self, x, direction, t):
        if self.rule.rate == RATE:
            taken.append(t)
        apply(self, x, direction, t)

    monkeypatch.setattr(sgd._SGD, "apply", noted)
    made = problem("nc", WORKERS, seed=1, d=4, zeta2=0.5)
    variant = Variant.parse(f"{line} / identity / whole / {seats}")
    pace = stragglers.parse("slow:1e-3,factor=10", 1)  # who is slow is left out of rounds
    simulate(Run(variant, made, CLOCKS, compute=pace), Network(1e-5, 1e-9))
    assert sorted(taken) == list(LINES[line, seats])
    if variant.architecture.served:  # one server: what is first taken in counts first
        assert taken == sorted(taken)


def test_every_architecture_that_leaves_its_outer_seat_free_is_here():
    """D2 has none; rounds that some begin are in test_stale_allreduce.py."""
    named = Counter(line.split(" / ")[1].split(":")[0] for line, _ in LINES)
    assert {*named} == {*architectures} - {"d2"}
