from __future__ import annotations

import pytest

from bench.jobs import late
from bench.predict import per_clock, sizes
from bench.variants import NAMED, entry
from mpiddl.problems import problem
from mpiddl.train import Run, simulate
from mpiddl.variant import Variant

BY_CHANCE = [line for line in NAMED.values() if "quorum=" in line or "backup=" in line]
LINES = [
    *(f"{line} / sgd:0.1" for line in NAMED.values() if line not in BY_CHANCE),
    "bsp / allreduce:naive / identity / whole / sgd:0.1",
    "bsp / allreduce:tree / identity / layerwise / sgd:0.1",
    "bsp / allreduce:recursive_doubling / identity / layerwise / sgd:0.1",
    "bsp / allreduce / ef+topk:0.07 / layerwise / sgd:0.1",
    "bsp / allreduce:gather=ring / sign / layerwise / sgd:0.1",
    "bsp / allreduce:hierarchical:1 / identity / layerwise / sgd:0.1",
    "bsp / allreduce:torus / identity / whole / sgd:0.1",
    "bsp / allreduce:double_tree / identity / whole / sgd:0.1",
    "ssp:2 / allreduce / identity / layerwise / sgd:0.1",
    "ssp:1,period=2 / allreduce:ring / ef+topk:0.1 / whole / sgd:0.1",
    "local:2 / gossip:complete / sign / layerwise / sgd:0.1",
    "bsp / gossip:star,gamma=0.5 / diff+qsgd:4 / layerwise / sgd:0.1",
    "bsp / gossip:exponential,order=cta / fp16 / whole / sgd:0.1",
    "bsp / gossip:torus / randk:0.3 / whole / sgd:0.1",
    "bsp / gossip:one_peer_exponential / diff+randk:0.3 / layerwise / sgd:0.1",
    "bsp / d2:two_level:3 / qsgd:4 / layerwise / sgd:0.1",
    "bsp / tracking:star,gamma=0.5 / topk:0.1 / layerwise / sgd:0.1",
    "local:2 / push_sum:directed_random:0.3 / sign / layerwise / sgd:0.1",
    "bsp / allreduce / diff+randk:0.3 / whole / sgd:0.1",
    "bsp / allreduce:ring / ef+randk:0.3,mask=shared / whole / sgd:0.1",
    "bsp / allreduce / identity / fused:100B / sgd:0.1",
    "bsp / ps:servers=3 / ef+topk:0.3 / layerwise / sgd:0.1",
    "local:2 / ps:down=diff+topk:0.2 / qsgd:4 / layerwise / sgd:0.1",
    "bsp / ps:servers=40,down=fp16 / sign / whole / sgd:0.1",
    "asp / ps / randk:0.5 / layerwise / sgd:0.1",
    "ssp:1 / ps:servers=2,down=diff+sign / ef+sign / whole / sgd:0.1",
    "ssp:2 / gossip:ring,gamma=0.3 / diff+topk:0.3 / layerwise / sgd:0.1",
    "asp:period=2 / gossip:exponential / qsgd:4 / whole / sgd:0.1",
    "asp / pairwise:ring / identity / layerwise / sgd:0.1",
    "asp / pairwise:complete / fp16 / whole / sgd:0.1",
]
HYPERCUBE = "bsp / gossip:hypercube / identity / whole / sgd:0.1"


def job(line: str, n: int, **options: object) -> Run:
    return Run(Variant.parse(line), problem("breast_cancer", n, 0, **options), 3, every=1)


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_the_formula_counts_what_a_run_sends(line, n):
    if line == HYPERCUBE and n & (n - 1):
        pytest.skip("a hypercube has 2^m ranks")
    run = job(line, n)
    clock, curve = per_clock(run), simulate(run)[0].curve
    counted = slice(-1, None) if late(run) else slice(None)
    assert (curve["bytes"] == clock.bytes * curve["clock"])[counted].all()
    assert (curve["messages"] == clock.messages * curve["clock"])[counted].all()


def test_bytes_depend_on_the_width_of_numbers():
    double, single = (per_clock(job(LINES[0], 4, dtype=kind)) for kind in ("float64", "float32"))
    assert double.bytes == 2 * single.bytes


def test_by_hand_for_three_ranks():
    # 31 doubles: ring: 3 blocks, 4 steps of each rank, 2 (3 - 1) 248 bytes in all
    assert per_clock(job("bsp / allreduce:ring / identity / whole / sgd:1", 3)).bytes == 2 * 2 * 248
    # top-k: 4 of 31 entries, 12 bytes each, and their length, to 2 others from 3 ranks
    assert per_clock(job(f"{NAMED['top-k']} / sgd:1", 3)).bytes == 3 * 2 * (4 * 12 + 4)
    # sign: 4 bytes of signs and a scale, and their length
    assert per_clock(job(f"{NAMED['sign']} / sgd:1", 3)).bytes == 3 * 2 * (4 + 8 + 4)
    # two servers of 16 and 15 entries: 2 and 2 bytes of signs and a scale up, 31 doubles down
    line = "bsp / ps:servers=2 / sign / whole / sgd:1"
    assert per_clock(job(line, 3)).bytes == 3 * (2 + 8 + 2 + 8 + 31 * 8)
    assert per_clock(job(line, 3)).messages == 3 * 2 * 2
    # the same on three ranks that work and serve: two speak to each of 11, 10 and 10 entries
    line = "bsp / ps / sign / whole / sgd:1"
    assert per_clock(job(line, 3)).bytes == 2 * (3 * (2 + 8) + 31 * 8)
    # a ring needs no lengths
    line = "bsp / allreduce:gather=ring / sign / whole / sgd:1"
    assert per_clock(job(line, 3)).bytes == 3 * 2 * (4 + 8)


def test_what_no_formula_speaks_of_is_not_predicted():
    assert per_clock(job("bsp / allreduce:native / identity / whole / sgd:1", 2)) is None
    assert per_clock(job("bsp / dynamic:0.1 / identity / whole / sgd:1", 2)) is None
    assert len(BY_CHANCE) > 2
    assert all(per_clock(job(f"{line} / sgd:1", 4)) is None for line in BY_CHANCE)


def test_sizes_are_those_of_the_plan():
    layout = problem("breast_cancer", 1, 0).layout
    assert sizes(entry("bsp").variant(1.0), layout, 8) == [31]
    assert sizes(entry("layerwise").variant(1.0), layout, 8) == [30, 1]
