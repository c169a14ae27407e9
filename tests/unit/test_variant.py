"""The line that describes a variant, and what is refused before any message."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from mpiddl.architecture.allreduce import AllReduce
from mpiddl.compression.direct import Direct
from mpiddl.compression.identity import Identity
from mpiddl.errors import ConfigurationError
from mpiddl.optim import Seats
from mpiddl.optim.rates import decreasing
from mpiddl.optim.sgd import SGD
from mpiddl.schedule.whole import Whole
from mpiddl.synchronization.bsp import BSP
from mpiddl.variant import Variant

LINES = [
    "bsp / allreduce / identity / whole / sgd:0.1",
    "bsp / allreduce:ring / identity / layerwise / sgd:0.1",
    "bsp / allreduce / identity / whole / sgd:0.1>sgd:1",
    "local:4 / allreduce / ef+topk:0.05 / whole / sgd:0.1",
    "local:4 / allreduce / identity / whole / none>sgd:0.1",
    "bsp / allreduce / sign / whole / sgd:0.01",
    "bsp / gossip:ring / identity / whole / sgd:0.1",
    "local:8 / gossip:complete / sign / layerwise / sgd:0.1",
    "bsp / ps / identity / whole / sgd:0.1",
    "ssp:4 / ps:servers=2 / ef+topk:0.05 / fused:25MB / sgd:0.1",
    "asp / ps:servers=2,down=diff+topk:0.1 / qsgd:4 / layerwise / sgd:0.1",
    "local:4 / ps:down=diff+sign / identity / whole / sgd:0.1>adam:0.01",
]


@pytest.mark.parametrize("line", LINES)
def test_a_line_parses_and_prints_back(line):
    variant = Variant.parse(line)
    assert str(variant) == line
    assert Variant.parse(str(variant)) == variant


def test_spaces_do_not_matter():
    assert Variant.parse(LINES[0].replace(" ", "")) == Variant.parse(LINES[0])


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("bsp / allreduce", "five parts"),
        ("bps / allreduce / identity / whole / sgd:0.1", "no synchronization is called 'bps'"),
        ("bsp / allreduce:rign / identity / whole / sgd:0.1", "no all-reduce is called 'rign'"),
        ("bsp / gossip:rign / identity / whole / sgd:0.1", "no topology is called 'rign'"),
        ("bsp / gossip / identity / whole / sgd:0.1", "gossip"),
        ("bsp / allreduce / fe+sign / whole / sgd:0.1", "no channel is called 'fe'"),
        ("bsp / allreduce / topk:2 / whole / sgd:0.1", "share of entries"),
        ("bsp / allreduce / identity:3 / whole / sgd:0.1", "identity:3"),
        ("bsp / allreduce / identity / whole / sgd", "sgd"),
        ("bsp / allreduce / identity / whole / sgd:-1", "above 0"),
        ("bsp / allreduce / identity / whole / sgd:nan", "above 0"),
        ("local:0 / allreduce / identity / whole / sgd:0.1", "at least 1"),
        ("local:2.5 / allreduce / identity / whole / sgd:0.1", "whole number"),
        ("local:yes / allreduce / identity / whole / sgd:0.1", "whole number"),
        ("ssp:no / ps / identity / whole / sgd:0.1", "whole number"),
        ("bsp / allreduce:4 / identity / whole / sgd:0.1", "no all-reduce is called '4'"),
        ("bsp / allreduce:gather=4 / identity / whole / sgd:0.1", "no all-gather is called '4'"),
        ("bsp / gossip:0.5 / identity / whole / sgd:0.1", "the graph 0.5 cannot be read"),
        ("bsp / gossip:ring,gamma=yes / identity / whole / sgd:0.1", "share gamma"),
        ("bsp / allreduce / topk:yes / whole / sgd:0.1", "share of entries"),
        ("bsp / allreduce / qsgd:yes / whole / sgd:0.1", "whole number"),
        ("bsp / ps:servers=1,servers=2 / identity / whole / sgd:0.1", "says servers twice"),
    ],
)
def test_a_wrong_line_is_refused_with_what_and_how(line, says):
    with pytest.raises(ConfigurationError) as refusal:
        Variant.parse(line).check(SimpleNamespace(workers=4, name="p"), 4)
    assert says in str(refusal.value)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("bsp / gossip:ring / identity / whole / none>sgd:0.1", "inner optimizer"),
        ("bsp / gossip:ring / ef+sign / whole / sgd:0.1", "remembers displacements"),
        ("bsp / allreduce / ef+sign / whole / none>sgd:0.1", "step must be taken before"),
    ],
)
def test_parts_that_disagree_are_both_named(line, says):
    with pytest.raises(ConfigurationError, match=says):
        Variant.parse(line).check(SimpleNamespace(workers=4, name="p"), 4)


def test_a_problem_for_other_ranks_is_refused():
    with pytest.raises(ConfigurationError, match="workers=4"):
        Variant.parse(LINES[0]).check(SimpleNamespace(workers=3, name="p"), 4)


def test_where_gradients_travel_the_step_is_taken_outside():
    for line, inside in [(LINES[0], False), (LINES[3], True), (LINES[6], True)]:
        assert (Variant.parse(line).seats.inner is not None) == inside


def test_decreasing_steps_are_part_of_the_text():
    seats = Seats(None, SGD(decreasing(mu=0.5, a=2)))
    variant = Variant(BSP(), AllReduce(), Direct(Identity()), Whole(), seats)
    assert str(variant) == "bsp / allreduce / identity / whole / sgd:1.0@decay:2"
    assert Variant.parse(str(variant)) == variant
