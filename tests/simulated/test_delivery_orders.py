"""Whatever the order in which messages arrive: nobody waits for ever, and what must hold does."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from itertools import cycle, pairwise

import numpy as np
import pytest

from mpiddl.comm.collectives import allreduces
from mpiddl.comm.simulated import Network, World
from mpiddl.problems import problem
from mpiddl.train import Run, simulate
from mpiddl.variant import Variant

NETWORK = Network(alpha=1e-5, beta=1e-9)
ORDERS, CLOCKS, D, LAYERS = 200, 4, 6, 2
SYNCHRONOUS = [
    *(
        f"bsp / allreduce:{name} / identity / {plan}"
        for name, plan in zip(allreduces, cycle(["layerwise", "whole"]), strict=False)
        if name != "native"  # needs MPI
    ),
    "local:2 / allreduce / ef+topk:0.4 / layerwise",
    "bsp / gossip:ring / identity / layerwise",
    "local:2 / gossip:complete / diff+topk:0.4 / whole",
    "bsp / ps / identity / layerwise",
    "bsp / ps:servers=2,down=diff+topk:0.5 / qsgd:4 / whole",
    "local:2 / ps:servers=1 / ef+sign / layerwise",
    "ssp:0 / ps:servers=9 / identity / layerwise",
]
ASYNCHRONOUS = [
    "ssp:1 / ps / identity / layerwise",
    "ssp:1 / ps:servers=2 / ef+topk:0.4 / whole",
    "ssp:2 / ps:servers=1 / identity / layerwise",
    "ssp:2 / ps:servers=3,down=diff+sign / diff+topk:0.4 / whole",
    "asp / ps / qsgd:4 / whole",
    "asp / ps:servers=2 / identity / layerwise",
]


def job(line, n, ends=None):
    made = problem("nc", n, seed=1, d=D, layers=LAYERS, zeta2=0.5)
    return Run(Variant.parse(f"{line} / sgd:0.1"), made, CLOCKS, every=2, ends=ends)


@contextmanager
def told(n, seed):
    """Tell which order failed."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"{n} workers, shuffle={seed}")
        raise


def orders():
    """Yield (workers, seed): 50 orders for each of 2 to 5 workers."""
    for index in range(ORDERS):
        yield 2 + index % 4, index // 4


@pytest.mark.parametrize("line", SYNCHRONOUS)
def test_where_all_wait_for_all_no_order_changes_a_bit(line):
    expected = {n: simulate(job(line, n), NETWORK) for n in range(2, 6)}
    for n, seed in orders():
        with told(n, seed):
            found = simulate(job(line, n), NETWORK, shuffle=seed)
            for one, other in zip(expected[n], found, strict=True):
                assert np.array_equal(one.x, other.x)
            for column in found[0].curve.as_dict():
                if column != "seconds":
                    one, other = expected[n][0].curve[column], found[0].curve[column]
                    assert np.array_equal(one, other, equal_nan=True), column


def check_services(services, run):
    """Check that every push was answered once and nobody was further ahead than allowed."""
    s = run.variant.sync.staleness
    ends, found = dict(enumerate(run.all_clocks)), 0
    for lane, server in {(lane, server) for lane, server in services[:, :2].tolist()}:
        rows = services[(services[:, 0] == lane) & (services[:, 1] == server)]
        found += len(rows)
        heard = Counter()
        for _, _, _, worker, clock, delay, missing, *_ in rows.tolist():
            assert clock == heard[worker]
            behind = [heard[each] for each, end in ends.items() if heard[each] < end]
            assert clock - min(behind) <= s
            assert 0 <= missing <= s
            assert 0 <= delay <= (2 * s + 1) * (len(ends) - 1)
            heard[worker] += 1
        assert heard == ends
    assert found == len(services)
    return int(services[:, 6].max())


def cut(run, worker):
    """Return the shards of all lanes that are not on the rank of `worker`."""
    layout, of = run.problem.layout, run.variant.architecture
    buckets = run.variant.schedule.plan(layout, 8).buckets
    found = (shard for one in buckets for shard in of.shards(one.span, run.ranks))
    return [shard for shard in found if shard.rank != worker]


def said(run):
    """Number of pushes to other ranks, and of entries in them, of the whole run."""
    parts = [
        (shard.part, end) for worker, end in enumerate(run.all_clocks) for shard in cut(run, worker)
    ]
    return sum(end for _, end in parts), sum((part.stop - part.start) * end for part, end in parts)


@pytest.mark.parametrize("line", ASYNCHRONOUS)
@pytest.mark.parametrize("early", [False, True])
def test_servers_keep_their_promises_in_any_order(line, early):
    attained = 0
    for n, seed in orders():
        if early != bool(seed % 2):
            continue
        run = job(line, n, ends=(*[CLOCKS] * (n - 1), CLOCKS // 2) if early else None)
        with told(n, seed):
            result = simulate(run, NETWORK, shuffle=seed)[0]
            attained = max(attained, check_services(result.services, run))
            (spoken, entries), curve = said(run), result.curve
            assert curve["messages"][-1] == 2 * spoken
            assert curve["bytes"][-1] == result.services[:, 7:].sum()
            assert (result.services[:, 7:] > 0).all(axis=1).sum() == spoken
            if "identity" in line:
                assert curve["bytes"][-1] == 2 * entries * 8
    if not early:
        assert attained == min(run.variant.sync.staleness, CLOCKS)


def test_the_checks_notice_a_wrong_row():
    run = job(ASYNCHRONOUS[2], 3)
    services = simulate(run, NETWORK, shuffle=1)[0].services
    check_services(services, run)
    for change in (services[1:], services[::-1], np.concatenate([services, services[-1:]])):
        with pytest.raises(AssertionError):
            check_services(change, run)


def test_orders_do_differ_and_a_run_that_waits_for_nobody_shows_it():
    line = "asp / ps:servers=1 / identity / whole"
    ends = {simulate(job(line, 3), NETWORK, shuffle=seed)[0].x.tobytes() for seed in range(5)}
    assert len(ends) > 1


# ------------------------------------------------------------------------ the shuffle itself


def test_messages_of_one_line_arrive_in_order_and_others_do_not():
    def sender(comm):
        for number in range(20):
            yield comm.isend(np.array([float(number)]), 1, number % 2)

    def receiver(comm):
        came, boxes = [], [np.empty(1) for _ in range(20)]
        requests = [comm.irecv(box, 0, number % 2) for number, box in enumerate(boxes)]
        for number, request in enumerate(requests):
            yield request
            came.append((comm.now(), number))
        return [float(box[0]) for box in boxes], came

    ends = set()
    for seed in range(5):
        world = World(2, NETWORK, shuffle=seed)
        values, _ = world.run(lambda comm, _: (sender, receiver)[comm.rank](comm))[1]
        assert values == list(range(20))
        ends.add(world.now)
    assert len(ends) == 5


@pytest.mark.parametrize("shuffle", [None, 3])
def test_a_trace_has_a_row_for_every_transfer_and_computation(shuffle):
    run, trace = job("bsp / ps / identity / layerwise", 3), []
    run = Run(run.variant, run.problem, CLOCKS, every=2, compute=2e-3)
    result = simulate(run, NETWORK, shuffle=shuffle, trace=trace)[0]
    moved = [span for span in trace if span.kind == "transfer"]
    assert len(moved) == result.curve["messages"][-1]
    assert sum(span.bytes for span in moved) == result.curve["bytes"][-1]
    assert all(span.rank != span.peer and span.start < span.end for span in moved)
    assert {span.label for span in moved} == {
        f"tag {tag}, lane {lane}" for tag in (0, 1) for lane in range(LAYERS)
    }
    busy = [span for span in trace if span.kind == "computation"]
    for rank in range(3):
        mine = [span for span in busy if span.rank == span.peer == rank]
        assert len(mine) == CLOCKS * LAYERS
        assert np.isclose(sum(span.end - span.start for span in mine), CLOCKS * 2e-3)
        assert all(one.end <= other.start for one, other in pairwise(mine))
